import { accessSync, constants } from "node:fs"
import { userInfo } from "node:os"
import { delimiter, isAbsolute, join } from "node:path"
import { gitEnvironment } from "../git"
import { workerMarks } from "../process-tree"

/** They describe the terminal this daemon may have been started from, or the agent that started it. */
const NOT_INHERITED = [
  "TMUX",
  "TMUX_PANE",
  "STY",
  "WINDOW",
  "WINDOWID",
  "TERMCAP",
  "COLUMNS",
  "LINES",
  "BASH_ENV",
  "REWAKE_AGENT_EXECUTION_ID",
]

/** Of whatever is run in a workspace for a person. */
export function commandEnvironment(
  { dataDir, cwd }: { dataDir: string; cwd: string },
  given: Record<string, string>,
): Record<string, string> {
  const inherited = gitEnvironment(dataDir, { ...process.env, ...given })
  for (const name of NOT_INHERITED) if (!(name in given)) delete inherited[name]
  return { ...(inherited as Record<string, string>), PWD: cwd, REWAKE_DATA_DIR: dataDir }
}

export const terminalEnvironment = (
  place: { dataDir: string; cwd: string; sessionId: string; workerId: string },
  given: Record<string, string>,
): Record<string, string> => ({
  ...commandEnvironment(place, given),
  ...{ TERM: "xterm-256color", COLORTERM: "truecolor" },
  ...workerMarks(place.sessionId, place.workerId),
})

/** The user's own shell; an account that must not log in gets the plain one. */
export function userShell(): string {
  const candidates = [process.env.SHELL, userInfo().shell]
  return candidates.find((file) => file && !/\/(nologin|false)$/.test(file) && isExecutable(file, "")) ?? "/bin/sh"
}

export function isExecutable(file: string, path: string): boolean {
  const places = isAbsolute(file) ? [file] : path.split(delimiter).map((folder) => join(folder, file))
  return places.some((place) => {
    try {
      accessSync(place, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
