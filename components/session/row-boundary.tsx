"use client"

import { Component, type ReactNode } from "react"
import type { Item } from "@/lib/client/transcript-items"

type Props = { item: Pick<Item, "order" | "type">; children: ReactNode }

/** One record that cannot be shown must not take the page with it: the row says which it is, and the rest stays. */
export class RowBoundary extends Component<Props, { failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override render() {
    if (!this.state.failed) return this.props.children
    const { order, type } = this.props.item
    return (
      <p role="note" className="text-s text-text-3">
        Event {order} ({type}) cannot be shown. It is in the log and in an export.
      </p>
    )
  }
}
