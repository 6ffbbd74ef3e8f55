// npm run moved: says that this data folder was moved here from another machine, with which its sessions stay otherwise.
import { runCli } from "./lib/cli.mjs"

await runCli("moved")
