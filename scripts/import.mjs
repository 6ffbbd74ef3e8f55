// npm run import -- FOLDER|FILE.tar --user EMAIL: takes a session over from its files.
import { runCli } from "./lib/cli.mjs"

await runCli("import")
