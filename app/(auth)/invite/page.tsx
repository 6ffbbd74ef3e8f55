import { Suspense } from "react"
import { JoinForm } from "@/components/account/join-form"

export default function InvitePage() {
  return (
    <Suspense>
      <JoinForm kind="invite" />
    </Suspense>
  )
}
