import { afterAll, beforeAll } from "vitest"
import { Rewake, type StartOptions } from "./server"

/** One server for all tests of the surrounding block, started before the first and stopped after the last. */
export function useServer(options: StartOptions = {}): Rewake {
  let rewake: Rewake | null = null
  beforeAll(async () => {
    rewake = await Rewake.start(options)
  })
  afterAll(() => rewake?.stop())
  return standIn(() => rewake)
}

/** Stands for something that a hook makes later. */
export function standIn<T extends object>(get: () => T | null): T {
  const made = () => {
    const found = get()
    if (found === null) throw new Error("used before its hook has made it")
    return found
  }
  return new Proxy({} as T, {
    get(_, key) {
      const value = Reflect.get(made(), key)
      return typeof value === "function" ? value.bind(made()) : value
    },
    set: (_, key, value) => Reflect.set(made(), key, value),
  })
}
