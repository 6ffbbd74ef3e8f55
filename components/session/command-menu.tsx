import { cn } from "@/components/ui/cn"
import type { CommandMenuState } from "./use-command-menu"

export function CommandMenu({ menu }: { menu: CommandMenuState }) {
  if (menu.commands.length === 0) return null
  return (
    <div
      id={menu.listId}
      role="listbox"
      aria-label="Commands of the agent"
      className="max-h-[min(260px,40dvh)] overflow-y-auto border-line-soft border-b p-1"
    >
      {menu.commands.map((command, at) => (
        <button
          type="button"
          key={command.name}
          id={menu.idOf(at)}
          role="option"
          tabIndex={-1}
          aria-selected={at === menu.active}
          ref={(row) => {
            if (at === menu.active) row?.scrollIntoView({ block: "nearest" })
          }}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => menu.choose(command)}
          className={cn(
            "flex w-full cursor-default items-baseline text-left gap-2 rounded-sm px-2 py-[5px] touch:min-h-11 touch:items-center",
            at === menu.active && "bg-hover",
          )}
        >
          <span className="shrink-0 font-mono text-s">/{command.name}</span>
          {command.hint !== null && <span className="shrink-0 font-mono text-s text-text-3">{command.hint}</span>}
          <span className="min-w-0 truncate text-s text-text-2">{command.description}</span>
        </button>
      ))}
    </div>
  )
}
