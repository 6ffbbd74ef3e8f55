import type { ComponentProps } from "react"
import { Field } from "@/components/ui/field"

const MIN_PASSWORD = 10

export function NewPasswordField(props: Pick<ComponentProps<typeof Field>, "label" | "name" | "ref">) {
  return (
    <Field
      {...props}
      type="password"
      autoComplete="new-password"
      required
      minLength={MIN_PASSWORD}
      maxLength={256}
      hint={`At least ${MIN_PASSWORD} characters.`}
    />
  )
}
