import { Stray } from "@/components/frame/stray"

export default function NotFoundPage() {
  return (
    <main className="flex min-h-dvh flex-col">
      <Stray title="There is no such page" lead="The address is mistyped, or what it led to has moved." />
    </main>
  )
}
