import { type AppError, fromErrorBody, isAppError } from "@/lib/contracts/errors"
import { sendJson } from "./transport"

/** What the server says it cannot use now, its database or its disk. Asked of the server itself, by itself, until it can again. */
export type ServerTrouble = "DATABASE_UNAVAILABLE" | "STORAGE_FULL"

const ASK_AGAIN_MS = 3_000

/** `recoveries`: how often it was over; whatever failed meanwhile is worth another try then. */
let view: { trouble: ServerTrouble | null; recoveries: number } = { trouble: null, recoveries: 0 }
let asking = false
const listeners = new Set<() => void>()

function set(next: Partial<typeof view>): void {
  view = { ...view, ...next }
  for (const listener of listeners) listener()
}

export const isServerTrouble = (error: unknown): error is AppError<ServerTrouble> =>
  isAppError(error) && (error.code === "DATABASE_UNAVAILABLE" || error.code === "STORAGE_FULL")

/** For every error that the server sent. A disk may be that of one session's executor: only the server knows whether it is its own. */
export function noteTrouble(error: unknown): void {
  if (asking || !isServerTrouble(error)) return
  asking = true
  void watch()
}

/** At least one wait: an answer from just before the trouble must not start everything at once that is about to fail again. */
async function watch(): Promise<void> {
  set({ trouble: await ask() })
  do {
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
    set({ trouble: await ask() })
  } while (view.trouble !== null)
  asking = false
  set({ recoveries: view.recoveries + 1 })
}

async function ask(): Promise<ServerTrouble | null> {
  try {
    const { status, text } = await sendJson({ method: "GET", path: "/api/ready", headers: { accept: "application/json" }, body: undefined })
    if (status === 200) return null
    const error = fromErrorBody(JSON.parse(text))
    return isServerTrouble(error) ? error.code : view.trouble
  } catch {
    // A server that is gone is told of elsewhere; this is not over because of it.
    return view.trouble
  }
}

export const serverTrouble = () => view
export function onServerTrouble(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
