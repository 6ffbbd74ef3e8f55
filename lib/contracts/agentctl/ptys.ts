import { z } from "zod"
import { AgentFile } from "./agent-file"

/**
 * Terminals in the daemon. A worker keeps one stream of bytes for its whole life, counted from 0 by absolute offsets; each process
 * it has had is an epoch, counted from 1. Output is raw: no byte is decoded, dropped or replaced on its way.
 */

const Size = { cols: z.number().int().min(2).max(1000), rows: z.number().int().min(1).max(500) }

const Command = z.object({ file: z.string(), args: z.array(z.string()), env: z.record(z.string(), z.string()) })
/** What the divider between the old output and the new calls it, as "new shell" or "conversation continued". */
const Label = z.string().max(60)

/** A terminal agent's conversation by its own name, null while that is not known; and the one it is a copy of. */
export const PtyConversation = z.object({ id: z.string().nullable(), forked_from: z.string().nullable() })
export type PtyConversation = z.infer<typeof PtyConversation>

/**
 * Where an agent that names its conversations itself leaves a file for each: `name` is a pattern whose first group is the
 * conversation's name. The file its process has open says which; else the only one that is newer than the process and begins by
 * naming the folder it runs in.
 */
export const ConversationTraces = z.object({ folder: z.string().startsWith("/"), name: z.string() })
export type ConversationTraces = z.infer<typeof ConversationTraces>

/**
 * PUT /sessions/{id}/ptys/{worker_id}: sees to it that a process is there. One that lives is left alone, whoever asks how often;
 * two callers at once get the same one. `restart` ends it first, with everything it started. Null `command`: the user's shell.
 * Of `rather`, the first whose files are all here is taken before `command`: an agent refuses to go on with a conversation that
 * has no file, and only the daemon can look.
 */
export const PutPty = z.object({
  type: z.enum(["agent", "terminal"]),
  command: Command.nullable(),
  ...Size,
  restart: z.boolean(),
  label: Label,
  rather: z.array(z.object({ command: Command, label: Label, needs: z.array(AgentFile) })).default([]),
  conversation: PtyConversation.nullable().default(null),
  traces: ConversationTraces.nullable().default(null),
})
export type PutPty = z.infer<typeof PutPty>
export type StartPty = z.input<typeof PutPty>

/** Something a shell ran: in the foreground, or as a job behind it. */
export const PtyProcess = z.object({ pid: z.number().int(), command: z.string(), cwd: z.string().nullable(), foreground: z.boolean() })
export type PtyProcess = z.infer<typeof PtyProcess>

export const PtyState = z.object({
  worker_id: z.string(),
  type: z.enum(["agent", "terminal"]),
  /** `gone`: its process went with an earlier daemon; nobody saw it end. */
  state: z.enum(["running", "exited", "gone"]),
  /** 0: nothing was started in it since its output came out of an archive. */
  epoch: z.number().int(),
  pid: z.number().int().nullable(),
  ...Size,
  /** The output that is kept: from `first` up to, not including, `head`. */
  first: z.number().int(),
  head: z.number().int(),
  /** Where this epoch's output begins; its divider, if it has one, lies before. */
  epoch_offset: z.number().int(),
  exit: z.object({ exit_code: z.number().int().nullable(), signal: z.string().nullable() }).nullable(),
  title: z.string().nullable(),
  /**
   * Of a terminal agent: what its latest process was started with, or has shown since. `unclear`: it left traces of more than one.
   * `since` is when that process was started. Absent where no process was started with one.
   */
  conversation: PtyConversation.extend({ unclear: z.boolean(), since: z.number() }).nullish(),
  /** What runs in it now, the shell itself left out. */
  processes: z.array(PtyProcess),
  /** What ran in it when its daemon went, until the next process is started; `alive`: it goes on without a terminal. */
  lost: z.array(z.object({ command: z.string(), cwd: z.string().nullable(), foreground: z.boolean(), alive: z.boolean() })),
})
export type PtyState = z.infer<typeof PtyState>

/** `restored`: a process was started where an earlier one had been. */
export const PutPtyAnswer = PtyState.extend({ restored: z.boolean() })
export type PutPtyAnswer = z.infer<typeof PutPtyAnswer>

/** GET /sessions/{id}/ptys */
export const PtyList = z.object({ ptys: z.array(PtyState) })

/**
 * GET /sessions/{id}/ptys/{worker_id}/output?offset=N streams bytes from N, or from `first` if N is cut already, until the
 * process of this epoch has ended and all is sent. With `?snapshot=1` instead, the body begins with `x-rewake-pty-snapshot` bytes
 * that draw the screen as it was at `x-rewake-pty-offset` (recent scrollback, colours, cursor, alternate screen, modes), and goes
 * on with the raw output from there. The reader's pace is the stream's pace, and the program's: it is held back to that of the fastest
 * reader, except those that said `skip=1`. A stream that ends while the process runs has fallen
 * behind `first`: its reader attaches again.
 *
 * What programs ask a terminal about itself (device attributes, status and cursor reports, modes) is answered by the daemon, once,
 * with or without viewers. A viewer's own terminal must not answer as well: each answer would be typed into the program again.
 */
export const PTY_EPOCH_HEADER = "x-rewake-pty-epoch"
export const PTY_OFFSET_HEADER = "x-rewake-pty-offset"
export const PTY_SNAPSHOT_HEADER = "x-rewake-pty-snapshot"
/** The size the snapshot was drawn for, as COLSxROWS: a size that was asked for a moment before it may not be the screen's yet. */
export const PTY_SNAPSHOT_SIZE_HEADER = "x-rewake-pty-snapshot-size"

/** GET …/{worker_id}/history?before=N&limit=BYTES: older raw output that ends at `before`; its offset is in the header. */
export const PTY_HISTORY_MAX_BYTES = 1024 * 1024

/** POST …/{worker_id}/input?epoch=E: the body's bytes as typed. Refused with PTY_GONE when that epoch's process has ended. */
export const PTY_INPUT_MAX_BYTES = 64 * 1024

/** PUT …/{worker_id}/size */
export const PutPtySize = z.object(Size)
/* DELETE …/{worker_id} ends the process with everything it started and removes its output. */
