import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const root = fileURLToPath(new URL(".", import.meta.url))
const globalSetup = ["tests/support/global-setup.mjs"]
const minutes = (count: number) => count * 60_000

/** Real databases and processes: few files at a time, and long but finite limits, so that a hang is a failure. */
const withServices = { globalSetup, maxWorkers: 2, testTimeout: minutes(2), hookTimeout: minutes(1), teardownTimeout: minutes(1) }

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
      project("unit", 0, { testTimeout: 20_000 }),
      project("architecture", 1, { testTimeout: 60_000 }),
      project("integration", 2, withServices),
      // Kills processes and waits for time to pass: anything else running would make it flaky.
      project("recovery", 3, { ...withServices, maxWorkers: 1, fileParallelism: false }),
      // Real agents, which `npm run test:agents` installs; the slowest takes seconds to start, and one test kills it four times.
      project("agents", 4, { testTimeout: minutes(5), hookTimeout: minutes(1), maxWorkers: 1, fileParallelism: false }),
    ],
  },
})
