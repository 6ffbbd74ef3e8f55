import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const root = fileURLToPath(new URL(".", import.meta.url))
const globalSetup = ["tests/support/global-setup.mjs"]
const minutes = (count: number) => count * 60_000

/**
 * Real databases and processes: more files at a time than cores, since a test also waits for disks and timers, and long but finite
 * limits, so that a hang is a failure. Files share their worker's modules: loading them again for each file costs CPU time.
 */
const withServices = {
  globalSetup,
  isolate: false,
  maxWorkers: 4,
  testTimeout: minutes(2),
  hookTimeout: minutes(1),
  teardownTimeout: minutes(1),
}

/** `groupOrder` keeps the layers apart when all of them run in one go: a killed process of one must not disturb another. */
function project(name: string, groupOrder: number, settings: object) {
  return { extends: true as const, test: { name, include: [`tests/${name}/**/*.test.ts`], sequence: { groupOrder }, ...settings } }
}

export default defineConfig({
  resolve: { alias: { "@": root.replace(/\/$/, "") } },
  test: {
    pool: "forks",
    setupFiles: ["tests/support/fixed-seed.ts"],
    silent: "passed-only",
    // The summary of `npm test` shows messages only: a cut list would not say which file it is about.
    chaiConfig: { truncateThreshold: 2000 },
    allowOnly: !process.env.REWAKE_TEST_RUN,
    projects: [
      // Pure functions share a process: loading the modules again for every file would take longer than the tests.
      project("unit", 0, { testTimeout: 20_000, isolate: false }),
      project("architecture", 1, { testTimeout: 60_000 }),
      project("integration", 2, withServices),
      // Files never share a server; tests of one file may, one after the other (tests/support/use-servers.ts).
      project("recovery", 3, withServices),
      // Real agents, which `npm run test:agents` installs: one file per agent, as many at a time as two cores bear.
      project("agents", 4, { testTimeout: minutes(10), hookTimeout: minutes(2), maxWorkers: 3 }),
    ],
  },
})
