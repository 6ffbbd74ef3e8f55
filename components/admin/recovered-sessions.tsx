import { Glyph, type GlyphName } from "@/components/ui/glyph"
import { formatMs, outcomeSentence } from "@/lib/client/admin-words"
import { formatFull, plural } from "@/lib/client/format"
import type { Recovery } from "@/lib/contracts/admin"

const glyphs: Record<string, GlyphName> = {
  adopted: "done",
  resumed: "done",
  interrupted: "warn",
  at_rest: "idle",
  not_resumable: "sleep",
  undecided: "sleep",
  not_mine: "idle",
  failed: "cross",
}

/** What became of each session that a boot found. */
export function RecoveredSessions({ recovery }: { recovery: Recovery }) {
  return (
    <>
      <p className="mb-1.5 text-s text-text-3">
        {formatFull(recovery.started_at)} on {recovery.hostname} ·{" "}
        {recovery.took_ms === null ? "still under way" : `took ${formatMs(recovery.took_ms)}`}
        <span className="phone:hidden">
          {" "}
          · <code className="font-mono">{recovery.boot_id}</code>
        </span>
      </p>
      {recovery.note && <p className="mb-1.5 text-warn">{recovery.note}</p>}
      {recovery.sessions.length === 0 && <p className="text-text-2">Nothing was left behind: no open run, no agent, no waiting message.</p>}
      <ul className="grid gap-y-1" aria-label={plural(recovery.sessions.length, "session")}>
        {recovery.sessions.map((session) => (
          <li
            key={session.session_id}
            className="grid grid-cols-[14px_minmax(0,2fr)_minmax(0,3fr)_auto] items-baseline gap-x-2 phone:grid-cols-[14px_minmax(0,1fr)_auto]"
          >
            <Glyph name={glyphs[session.outcome] ?? "idle"} className="translate-y-[2px]" />
            <span className="truncate font-[480]" title={session.session_id}>
              {session.title ?? "a session that was deleted since"}
            </span>
            <span className="min-w-0 break-words text-text-2 phone:col-span-2 phone:col-start-2 phone:row-start-2">
              {outcomeSentence(session.outcome)}
              {session.error && <span className="text-bad">: {session.error}</span>}
            </span>
            <span className="text-right text-s text-text-3 tabular-nums">{formatMs(session.took_ms)}</span>
          </li>
        ))}
      </ul>
    </>
  )
}
