// What the tests need besides Node: found, or installed and started; never skipped.

import { CEPH_PACKAGES, findCeph } from "./ceph.mjs"
import { findChromium } from "./chromium.mjs"
import { installPackages } from "./debian.mjs"
import { findProgram } from "./find-program.mjs"
import { findPostgres, startPostgres } from "./postgres.mjs"

/** `needs` may hold "postgres", "chromium", "git", "zstd" and "s3"; of S3 only the programs, which the tests that use it start. Gives the variables to run the tests with, and how to stop what was started. */
export async function obtainServices(needs, steps) {
  const wantsOwnPostgres = needs.includes("postgres") && !process.env.TEST_DATABASE_URL
  const missing = [
    wantsOwnPostgres && findPostgres() === null && "postgresql",
    needs.includes("chromium") && findChromium() === null && "chromium",
    needs.includes("git") && findProgram("git") === null && "git",
    needs.includes("zstd") && findProgram("zstd") === null && "zstd",
    ...(needs.includes("s3") && findCeph() === null ? CEPH_PACKAGES : []),
  ].filter(Boolean)
  if (missing.length > 0) await installPackages(missing, steps)

  const env = {}
  let stop = async () => {}
  if (needs.includes("chromium")) env.CHROMIUM_PATH = findChromium()
  if (wantsOwnPostgres) {
    const postgres = await steps.run("postgresql", () => startPostgres())
    env.TEST_DATABASE_URL = postgres.url
    stop = postgres.stop
  }
  return { env, stop }
}
