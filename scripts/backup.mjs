// npm run backup -- FILE [--overwrite], or -- --restore FILE: the embedded database and its secret as one file, and back. See docs/backup.md.
import { runCli } from "./lib/cli.mjs"

await runCli("backup")
