import type { AppError } from "../../lib/contracts/errors"
import { DURATIONS } from "../../lib/host/durations"
import type { Gateway } from "./gateway"

/** Tells open pages while the database or the disk cannot be used. Said each time: a page may just have seen the trouble end. */
export function startTroubleWatch(gateway: Pick<Gateway, "connections" | "tellTrouble">, whatFails: () => Promise<AppError | null>) {
  const timer = setInterval(async () => {
    const trouble = gateway.connections() > 0 ? await whatFails() : null
    if (trouble) gateway.tellTrouble(trouble)
  }, DURATIONS.storageCheckMs)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}
