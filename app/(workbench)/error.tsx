"use client"

import { Stray } from "@/components/frame/stray"
import { Button } from "@/components/ui/button"

export default function ErrorPage({ reset }: { error: Error; reset: () => void }) {
  return (
    <Stray title="This page failed" lead="Agents and sessions are not touched by it: what runs goes on.">
      <Button onClick={reset}>Try again</Button>
    </Stray>
  )
}
