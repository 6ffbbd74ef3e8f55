// npm run moved: says that this data folder was moved here from another machine. Until then its sessions count as on that machine.
import { runCli } from "./lib/cli.mjs"

await runCli("moved")
