import { Suspense } from "react"
import { ResetForm } from "@/components/account/reset-form"

export default function ResetPage() {
  return (
    <Suspense>
      <ResetForm />
    </Suspense>
  )
}
