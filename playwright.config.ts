import { defineConfig } from "@playwright/test"
import { findChromium } from "./scripts/lib/services/chromium.mjs"

const executablePath = findChromium()
if (executablePath === null) throw new Error("No Chromium found: set CHROMIUM_PATH, or run `npm test -- e2e`, which installs it.")

const jsonFile = process.env.REWAKE_TEST_RESULTS

export default defineConfig({
  testDir: "tests/e2e",
  testMatch: "*.spec.ts",
  // Files run side by side, the tests of one file in sequence: most of them share a server.
  workers: 2,
  fullyParallel: false,
  retries: 0,
  forbidOnly: process.env.REWAKE_TEST_RUN !== undefined,
  timeout: 120_000,
  expect: { timeout: 15_000 },
  outputDir: "test-results",
  reporter: jsonFile ? [["list"], ["json", { outputFile: jsonFile }]] : [["list"]],
  use: {
    browserName: "chromium",
    // Without a film of every test, which would take a core from what it films; the failure itself is photographed.
    trace: { mode: "retain-on-failure", screenshots: false },
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
})
