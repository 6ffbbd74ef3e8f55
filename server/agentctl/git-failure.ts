import type { DaemonErrorCode } from "../../lib/contracts/agentctl/protocol"
import { withoutUserInfo } from "../../lib/host/git-url"
import { Failure } from "./failure"

/** Why a git command failed, in our words. What git said is for the daemon's log: its hints name commands a user must not run here. */
export class GitFailure extends Failure {
  constructor(
    code: DaemonErrorCode,
    message: string,
    /** For the log, without user names and passwords. */
    readonly said: string,
  ) {
    super(code, message)
  }
}

/** For the line of the log that tells of the failure. */
export const saidByGit = (error: unknown): { said?: string } => (error instanceof GitFailure ? { said: error.said.slice(-SAID_KEPT) } : {})
const SAID_KEPT = 1000

const REASONS: [RegExp, string][] = [
  [/already (checked out|used by worktree)/, "The branch is already checked out in another worktree of the repository."],
  [/dubious ownership/, "The repository belongs to another user of this machine, so git refuses to work in it."],
  [/could not read (Username|Password) for|Authentication failed for/, "The repository's server asks for a user name and password."],
  [/Host key verification failed/, "The host key of the repository's server is not known on this machine."],
  [/Permission denied \(publickey/, "The repository's server accepts no SSH key of this machine's user."],
  [/certificate/i, "The certificate of the repository's server is not trusted on this machine."],
  [
    /Could not resolve host|Connection refused|timed out|unreachable|Failed to connect|Could not connect/i,
    "The repository's server cannot be reached.",
  ],
  [/not found|does not appear to be a git repository|does not exist/i, "The repository, or a part of it that is needed, does not exist."],
  [/bad object|unable to read|corrupt|loose object|missing (blob|tree|commit)/i, "Objects of the repository are missing or damaged."],
  [/Permission denied|Operation not permitted|Read-only file system/i, "The repository's files cannot be written."],
]

export function gitFailure(args: readonly string[], exitCode: number | null, stderr: string): GitFailure {
  const said = withoutUserInfo(stderr.trim())
  if (/No space left|Disk quota/i.test(said)) return new GitFailure("DISK_FULL", "There is no room on the disk for git's files.", said)
  const lock = /Unable to create '([^'\n]{1,300}\.lock)': File exists/.exec(said)?.[1]
  const reason = lock
    ? `Another git command works there, or one was killed: the lock file ${JSON.stringify(lock)} exists. If no git runs there, remove that file and retry.`
    : (REASONS.find(([words]) => words.test(said))?.[1] ?? "The log of agentctl has what git said.")
  return new GitFailure("WORKSPACE_FAILED", `git ${commandOf(args)} failed (exit code ${exitCode}). ${reason}`, said)
}

/** "worktree add": without options, and without names, which may be anything. */
function commandOf(args: readonly string[]): string {
  const words = args.filter((arg, at) => !arg.startsWith("-") && args[at - 1] !== "-c")
  return words[0] === "worktree" || words[0] === "stash" ? words.slice(0, 2).join(" ") : (words[0] ?? "")
}
