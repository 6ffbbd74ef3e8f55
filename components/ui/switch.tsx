import { cn } from "./cn"

type SwitchProps = { label: string; checked: boolean; disabled?: boolean; describedBy?: string; onChange: () => void }

/** On or off in a word as well: the knob's place and colour are not enough. */
export function Switch({ label, checked, disabled = false, describedBy, onChange }: SwitchProps) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={checked}
      aria-describedby={describedBy}
      disabled={disabled}
      onClick={onChange}
      className="flex items-center gap-2.5 rounded-sm text-left disabled:opacity-60 touch:min-h-11"
    >
      <span className={cn("flex h-4 w-7 shrink-0 rounded-full p-0.5 transition-colors", checked ? "bg-alive" : "bg-text-3")}>
        <span className={cn("size-3 rounded-full bg-bg transition-transform", checked && "translate-x-3")} />
      </span>
      <span className="min-w-0 font-[530]">{label}</span>
      <span aria-hidden="true" className="text-s text-text-3">
        {checked ? "On" : "Off"}
      </span>
    </button>
  )
}
