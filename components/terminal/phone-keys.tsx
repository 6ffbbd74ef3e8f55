import { cn } from "@/components/ui/cn"
import { PHONE_KEYS } from "./control-keys"
import type { LiveTerminal } from "./live-terminal"

const keyClass =
  "flex h-11 min-w-11 shrink-0 select-none items-center justify-center rounded-sm border border-line bg-raised px-2 font-mono text-m text-text active:bg-hover"

/** Keys a phone's keyboard does not have, above it. A press must not take the focus: the keyboard would close. */
export function PhoneKeys({ terminal, ctrl }: { terminal: LiveTerminal; ctrl: boolean }) {
  const [esc, tab, ...others] = PHONE_KEYS.map(({ label, name, data }) => (
    <button
      key={name}
      type="button"
      aria-label={name}
      className={keyClass}
      onPointerDown={(event) => event.preventDefault()}
      onClick={() => terminal.press(data)}
    >
      {label}
    </button>
  ))
  return (
    <div
      role="toolbar"
      aria-label="Keys"
      className="hidden shrink-0 gap-1 overflow-x-auto border-line-soft border-t bg-panel px-2 py-1 pb-[max(4px,env(safe-area-inset-bottom))] [scrollbar-width:none] touch:flex"
    >
      {esc}
      {tab}
      <button
        type="button"
        aria-pressed={ctrl}
        className={cn(keyClass, ctrl && "border-alive bg-alive-soft text-alive")}
        onPointerDown={(event) => event.preventDefault()}
        onClick={() => terminal.toggleCtrl()}
      >
        Ctrl
      </button>
      {others}
    </div>
  )
}
