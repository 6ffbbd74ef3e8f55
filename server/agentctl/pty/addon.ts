import { fileURLToPath } from "node:url"
import { Failure, messageOf } from "../failure"

/**
 * node-pty's addon without its wrapper, which closes the terminal 200 ms after an exit and with it loses output that flow control
 * held back, retries a full terminal in a busy loop, and turns off the kernel's UTF-8 editing when bytes are asked for.
 */
export interface PtyAddon {
  fork(
    file: string,
    args: string[],
    env: string[],
    cwd: string,
    cols: number,
    rows: number,
    uid: number,
    gid: number,
    utf8: boolean,
    helper: string,
    onExit: (code: number, signal: number) => void,
  ): { fd: number; pid: number; pty: string }
  resize(fd: number, cols: number, rows: number): void
}

/** Both lie beside the daemon's own program; macOS starts processes through the helper. */
const ADDON = fileURLToPath(new URL("./pty.node", import.meta.url))
export const SPAWN_HELPER = fileURLToPath(new URL("./spawn-helper", import.meta.url))

let loaded: PtyAddon | null = null

/** Loaded with the first terminal: a machine it was not built for still runs agents. */
export function ptyAddon(): PtyAddon {
  if (loaded) return loaded
  try {
    const module = { exports: {} }
    process.dlopen(module, ADDON)
    loaded = module.exports as PtyAddon
    return loaded
  } catch (error) {
    throw new Failure("PTY_START_FAILED", `Terminals cannot be started on this machine: ${messageOf(error)}`)
  }
}
