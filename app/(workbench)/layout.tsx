import type { ReactNode } from "react"
import { Frame } from "@/components/frame/frame"

export default function WorkbenchLayout({ children }: { children: ReactNode }) {
  return <Frame>{children}</Frame>
}
