import type { ComponentProps, ReactNode } from "react"
import { useId } from "react"
import { cn } from "./cn"

export const inputClass =
  "w-full rounded-sm border border-line bg-bg px-2.5 py-[5.5px] text-text outline-none transition-colors focus-visible:border-alive focus-visible:outline-2 focus-visible:outline-alive-soft disabled:opacity-60 touch:min-h-11"

type FieldProps = ComponentProps<"input"> & { label: string; hint?: ReactNode; error?: string | null }

export function Field({ label, hint, error, className, ...props }: FieldProps) {
  const id = useId()
  const note = error ?? hint
  return (
    <div className={className}>
      <label htmlFor={id} className="mb-1 block font-[530] text-s text-text-2">
        {label}
      </label>
      <input
        id={id}
        aria-invalid={error ? true : undefined}
        aria-describedby={note ? `${id}-note` : undefined}
        {...props}
        className={cn(inputClass, error && "border-bad")}
      />
      {note && (
        <p id={`${id}-note`} className={cn("mt-1 text-s", error ? "text-bad" : "text-text-3")}>
          {note}
        </p>
      )}
    </div>
  )
}

type SelectFieldProps = ComponentProps<"select"> & { label: string }

export function SelectField({ label, className, ...props }: SelectFieldProps) {
  const id = useId()
  return (
    <div className={className}>
      <label htmlFor={id} className="mb-1 block font-[530] text-s text-text-2">
        {label}
      </label>
      <select id={id} {...props} className={cn(inputClass, "min-h-[32.5px]")} />
    </div>
  )
}

type CheckFieldProps = Omit<ComponentProps<"input">, "type"> & { label: ReactNode }

export function CheckField({ label, className, ...props }: CheckFieldProps) {
  return (
    <label className={cn("flex items-center gap-2 touch:min-h-11", className)}>
      <input type="checkbox" {...props} className="accent-alive" />
      {label}
    </label>
  )
}

export function FormError({ children }: { children: ReactNode }) {
  if (!children) return null
  return (
    <p role="alert" className="rounded-sm bg-bad-soft px-2.5 py-1.5 text-bad">
      {children}
    </p>
  )
}
