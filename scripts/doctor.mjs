// npm run doctor [-- --repair FOLDER | FOLDER|FILE.tar]: compares every session with its log, or reads an export and tells what is damaged.
import { runCli } from "./lib/cli.mjs"

await runCli("doctor")
