import { spawn } from "node:child_process"
import { withUmaskOfUsers } from "../../lib/host/umask"
import { Failure } from "./failure"
import type { AnswerToGit } from "./git-credential"
import { gitFailure } from "./git-failure"
import { withoutTerminals } from "./pty/masters"

/** A clone of a large repository may take this long; longer is reported as failed. */
const GIT_TIMEOUT_MS = 15 * 60 * 1000
const NEUTRAL = [
  "-c",
  "user.name=Rewake",
  "-c",
  "user.email=rewake@localhost",
  "-c",
  "commit.gpgsign=false",
  "-c",
  "core.hooksPath=/dev/null",
]

export interface Git {
  /** Standard output; a GitFailure when it fails. `signIn`: for this command alone. */
  run(cwd: string, args: string[], signIn?: AnswerToGit | null): Promise<string>
  succeeds(cwd: string, args: string[], signIn?: AnswerToGit | null): Promise<boolean>
}

export function gitEnvironment(dataDir: string, base: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const env = { ...base }
  // Set by a git hook around the server, they would point every command at that repository instead of the workspace.
  for (const name of ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"])
    delete env[name]
  env.GIT_CEILING_DIRECTORIES = [dataDir, base.GIT_CEILING_DIRECTORIES].filter(Boolean).join(":")
  return env
}

export function createGit(dataDir: string): Git {
  const env = { ...gitEnvironment(dataDir, process.env), GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" }
  const execute = (cwd: string, args: string[], signIn: AnswerToGit | null) =>
    new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve, reject) => {
      const child = withUmaskOfUsers(() =>
        spawn("git", [...NEUTRAL, ...(signIn?.args ?? []), ...args], {
          cwd,
          env: { ...env, ...signIn?.env },
          stdio: withoutTerminals(["ignore", "pipe", "pipe"]),
          timeout: GIT_TIMEOUT_MS,
        }),
      )
      let stdout = ""
      let stderr = ""
      child.stdout.on("data", (bytes) => {
        stdout = (stdout + bytes).slice(-65536)
      })
      child.stderr.on("data", (bytes) => {
        stderr = (stderr + bytes).slice(-4096)
      })
      child.on("error", (error) => reject(new Failure("WORKSPACE_FAILED", `git could not be run: ${error.message}`)))
      child.on("close", (code) => resolve({ code, stdout, stderr }))
    })
  return {
    async run(cwd, args, signIn = null) {
      const { code, stdout, stderr } = await execute(cwd, args, signIn)
      if (code === 0) return stdout
      throw gitFailure(args, code, signIn ? stderr.replaceAll(signIn.secret, "•••") : stderr)
    },
    async succeeds(cwd, args, signIn = null) {
      return (await execute(cwd, args, signIn)).code === 0
    },
  }
}

export interface GitPipe {
  /** Given to git; a number is an open file. */
  input?: Buffer | number
  /** An open file that takes the output; without one it is returned. */
  output?: number
  /** Exit codes besides 0 that are an answer, not a failure. */
  accept?: number[]
  env?: Record<string, string>
  /** So much of the output is kept; all of it is counted. */
  keep?: number
  timeoutMs?: number
}
export type PipedGit = (cwd: string, args: string[], pipe?: GitPipe) => Promise<{ code: number; stdout: Buffer; bytes: number }>

/** For names and objects: bytes in, bytes out, whatever their size. Asks without taking locks, and runs nothing a repository's config names. */
export function createPipedGit(dataDir: string): PipedGit {
  const env = { ...gitEnvironment(dataDir, process.env), GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" }
  return (cwd, args, { input, output, accept = [], env: extra, keep = Number.POSITIVE_INFINITY, timeoutMs } = {}) =>
    new Promise((resolve, reject) => {
      const stdin = typeof input === "number" ? input : input ? "pipe" : "ignore"
      const child = withUmaskOfUsers(() =>
        spawn("git", [...NEUTRAL, "-c", "core.fsmonitor=false", ...args], {
          cwd,
          env: { ...env, ...extra },
          stdio: withoutTerminals([stdin, output ?? "pipe", "pipe"]),
          timeout: timeoutMs,
        }),
      )
      const chunks: Buffer[] = []
      let bytes = 0
      let stderr = ""
      child.stdout?.on("data", (chunk: Buffer) => {
        if (bytes < keep) chunks.push(chunk.subarray(0, keep - bytes))
        bytes += chunk.length
      })
      child.stderr?.on("data", (bytes) => {
        stderr = (stderr + bytes).slice(-4096)
      })
      // git that ends before it has read everything says why in its exit.
      child.stdin?.on("error", () => undefined)
      child.stdin?.end(input)
      child.on("error", (error) => reject(new Failure("WORKSPACE_FAILED", `git could not be run: ${error.message}`)))
      child.on("close", (code) => {
        if (code === 0 || (code !== null && accept.includes(code))) return resolve({ code, stdout: Buffer.concat(chunks), bytes })
        reject(gitFailure(args, code, stderr))
      })
    })
}
