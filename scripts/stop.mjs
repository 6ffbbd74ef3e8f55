// npm stop: ends the server of this DATA_DIR; agents go on working.
import { existsSync } from "node:fs"
import { runBuiltCli } from "./lib/cli.mjs"
import { inProject } from "./lib/project.mjs"

if (!existsSync(inProject("dist", "cli.mjs"))) {
  console.error("Nothing has been built here, so no server of this checkout runs.")
  process.exit(0)
}
runBuiltCli("stop")
