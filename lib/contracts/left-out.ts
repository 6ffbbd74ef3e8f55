import { z } from "zod"

/**
 * What was there and is not in an archive, told before a restore and after it. Bounded however much it is: per reason a count and
 * the first names. Names are those of a stranger's files: data to show as text, never markup.
 */

/**
 * `ignored`: by git; a folder that is ignored as a whole counts once. `special_file`: a socket, fifo or device. `outward_link`: a
 * link that leads out of the workspace. `vanished`: removed while it was read. `git_state`: an operation of git in progress.
 * `git_settings`: a repository's own configuration and hooks. `agent_command`: a conversation the agent's own command did not give.
 * `refused_name`: a name no reader
 * would accept, as of a folder that git could take for its own. `terminal_output`: what a terminal showed earlier. `other`: counted by an older version, which named 100 only.
 */
export const LEFT_OUT_REASONS = [
  "ignored",
  "outward_link",
  "special_file",
  "unreadable",
  "vanished",
  "credentials",
  "git_state",
  "git_settings",
  "agent_command",
  "refused_name",
  "terminal_output",
  "other",
] as const
export const LeftOutReason = z.enum(LEFT_OUT_REASONS)
export type LeftOutReason = z.infer<typeof LeftOutReason>

/** More of one reason are counted, not named. */
export const LEFT_OUT_NAMED = 8
/** A longer path is cut in its middle. */
export const LEFT_OUT_PATH_CHARS = 160

export const LeftOutGroup = z.object({
  reason: LeftOutReason,
  count: z.number().int().min(1),
  /** Of all of them; null where that is not known. */
  bytes: z.number().int().min(0).nullable(),
  names: z
    .array(
      z.object({
        /** A folder ends with a slash. */
        path: z.string().max(LEFT_OUT_PATH_CHARS),
        /** How many files a folder holds; null for a file, and where counting would take long. */
        files: z.number().int().min(0).nullable(),
      }),
    )
    .max(LEFT_OUT_NAMED),
})
export type LeftOutGroup = z.infer<typeof LeftOutGroup>

/** One group per reason. */
export const LeftOut = z.array(LeftOutGroup).max(LEFT_OUT_REASONS.length)
export type LeftOut = z.infer<typeof LeftOut>
