import { findProgram } from "./find-program.mjs"

/** CHROMIUM_PATH, or the browser installed on this machine, or null. */
export function findChromium() {
  return process.env.CHROMIUM_PATH || findProgram("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
}
