import { expect, test } from "vitest"
import { pickBanner } from "@/lib/client/session-banner"
import { emptyTranscript } from "@/lib/client/transcript"
import type { Transcript } from "@/lib/client/transcript-items"
import type { SessionStatusReport } from "@/lib/contracts/status"
import type { SessionView } from "@/lib/contracts/task"

type Over = {
  session?: Partial<SessionView>
  report?: Partial<SessionStatusReport>
  transcript?: Partial<Transcript>
  dismissedRun?: string
}
const banner = ({ session, report, transcript, dismissedRun }: Over) =>
  pickBanner({
    session: { state: "WAITING_FOR_INPUT", executor_status: "ready", ...session } as SessionView,
    report: { resume_reason: "already_running", is_resumable: true, executor_status: "ready", ...report } as SessionStatusReport,
    transcript: { ...emptyTranscript(), ...transcript },
    dismissedRun: dismissedRun ?? null,
    justWoken: null,
  })
const interrupted = { runId: "r1", reason: "process_restart" as const, at: "2026-01-01T00:00:00Z" }

test("a session at rest has none", () => {
  expect(banner({})).toBeNull()
})

test("a session on another server says so, whatever else is wrong with it, and offers nothing that would harm it", () => {
  const session = { on_other_server: true, executor_status: "unknown", state: "ERROR" } as const
  expect(banner({ session })).toEqual({ kind: "on_other_server" })
  expect(banner({ report: { on_other_server: true, executor_status: "unknown" } })).toEqual({ kind: "on_other_server" })
})

test("a session that waits for a free agent says its place in line", () => {
  const start_place = { position: 2, waiting: 3 }
  expect(banner({ session: { start_place } })).toEqual({ kind: "waits_to_start", place: start_place })
})

test("an interrupted run is offered until it is put aside", () => {
  expect(banner({ transcript: { interrupted } })).toMatchObject({
    kind: "interrupted",
    sentence: "This run was interrupted when the server restarted.",
  })
  expect(banner({ transcript: { interrupted }, dismissedRun: "r1" })).toBeNull()
})

test("an error says which part failed, and comes before an interruption", () => {
  const trouble = { of: "agent" as const, reason: "resume_failed", message: "no such program" }
  expect(banner({ session: { state: "ERROR" }, transcript: { trouble, interrupted } })).toEqual({
    kind: "error",
    sentence: "The agent of this session could not be started. Transcript, queue and files are kept.",
    details: "no such program",
    abandonable: false,
  })
  expect(banner({ report: { resume_reason: "workspace_missing" } })).toMatchObject({
    sentence: expect.stringContaining("workspace"),
  })
})

test("an executor that does not answer gets a calm notice, no error", () => {
  expect(banner({ report: { executor_status: "unknown" } })).toEqual({ kind: "silent", abandoned: false })
})

test("an executor that cannot be reached can be given up, once; a silent one that was given up says what it still holds", () => {
  const trouble = { of: "executor" as const, reason: "unreachable", message: "no answer" }
  const unreachable = (abandoned: boolean) => banner({ session: { state: "ERROR" }, transcript: { trouble, abandoned } })
  expect(unreachable(false)).toMatchObject({ kind: "error", abandonable: true })
  expect(unreachable(true)).toMatchObject({ abandonable: false })
  expect(banner({ report: { executor_status: "unknown" }, transcript: { abandoned: true } })).toEqual({ kind: "silent", abandoned: true })
})

test("waking comes before everything", () => {
  const waking = { first: false, steps: [] }
  expect(banner({ session: { state: "ERROR" }, transcript: { waking } })).toEqual({ kind: "waking", waking })
})
