// npm run export -- --session ID [--to FOLDER]: writes a session's three files.
import { runCli } from "./lib/cli.mjs"

await runCli("export")
