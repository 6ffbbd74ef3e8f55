import { Suspense } from "react"
import { JoinForm } from "@/components/account/join-form"

export default function SetupPage() {
  return (
    <Suspense>
      <JoinForm kind="setup" />
    </Suspense>
  )
}
