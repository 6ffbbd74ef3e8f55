import { cn } from "@/components/ui/cn"
import type { ChangeGroup } from "@/lib/client/change-list"
import { FilePathText, LineCounts, StatusLetter } from "./file-header"

/** Every changed file at a glance; choosing one leads to its change. */
export function FileList({
  groups,
  current,
  onChoose,
}: {
  groups: readonly ChangeGroup[]
  current: string | null
  onChoose: (groupKey: string, fileKey: string) => void
}) {
  return (
    <nav aria-label="Changed files" className="hidden w-[270px] shrink-0 overflow-y-auto border-line-soft border-r py-2 min-[1080px]:block">
      {groups.map((group) => (
        <section key={group.key} className="mb-2">
          <h3 className="truncate px-3 pt-1 pb-0.5 text-s text-text-3">{group.title}</h3>
          <ul>
            {group.files.map(({ key, file }) => (
              <li key={key}>
                <button
                  type="button"
                  aria-current={key === current ? "true" : undefined}
                  title={file.path}
                  onClick={() => onChoose(group.key, key)}
                  className={cn(
                    "flex w-full items-center gap-2 px-3 py-[3px] text-left hover:bg-hover",
                    key === current && "bg-hover shadow-[inset_2px_0_0_var(--alive)]",
                  )}
                >
                  <StatusLetter status={file.status} />
                  <FilePathText path={file.path} oldPath={null} />
                  <span className="ml-auto pl-1">
                    <LineCounts added={file.added} removed={file.removed} />
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}
