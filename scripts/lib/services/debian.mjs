import { existsSync } from "node:fs"
import { runQuietly, StepFailed } from "../steps.mjs"

/** Installs what the tests need where that is possible, and otherwise stops with the command to run. */
export async function installPackages(packages, steps) {
  const install = ["install", "-y", "--no-install-recommends", ...packages]
  const isRoot = process.getuid?.() === 0
  if (!isRoot || !existsSync("/etc/debian_version")) {
    throw new StepFailed(
      `The tests need ${packages.join(" and ")}. On Debian or Ubuntu, as root:\n  apt-get update && apt-get ${install.join(" ")}`,
    )
  }
  steps.say("packages", `installing ${packages.join(", ")} with apt-get`)
  await steps.run("packages", async () => {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
    await runQuietly("apt-get", ["update"], { env })
    await runQuietly("apt-get", install, { env })
  })
}
