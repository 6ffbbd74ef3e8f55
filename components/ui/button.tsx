import type { ComponentProps } from "react"
import { cn } from "./cn"

export type ButtonLook = "primary" | "plain" | "quiet" | "danger"

const looks: Record<ButtonLook, string> = {
  primary: "border-transparent bg-alive text-alive-ink hover:brightness-105 active:brightness-95",
  plain: "border-line bg-raised text-text hover:bg-hover",
  quiet: "border-transparent text-text-2 hover:bg-hover hover:text-text",
  danger: "border-transparent bg-bad-soft text-bad hover:brightness-110",
}

export const buttonClass = (look: ButtonLook, className?: string) =>
  cn(
    "inline-flex select-none items-center justify-center gap-1.5 whitespace-nowrap rounded-sm border px-2.5 py-[4.5px] font-[530] transition-colors disabled:pointer-events-none disabled:opacity-50 touch:min-h-11 touch:px-3.5",
    looks[look],
    className,
  )

export function Button({ look = "plain", className, ...props }: ComponentProps<"button"> & { look?: ButtonLook }) {
  return <button type="button" {...props} className={buttonClass(look, className)} />
}

export function IconButton({ label, className, ...props }: ComponentProps<"button"> & { label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...props}
      className={cn(
        "inline-flex size-7 shrink-0 items-center justify-center rounded-sm text-text-3 transition-colors hover:bg-hover hover:text-text disabled:pointer-events-none disabled:opacity-40 data-[state=open]:bg-hover data-[state=open]:text-text touch:size-11",
        className,
      )}
    />
  )
}
