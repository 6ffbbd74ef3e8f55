// npm run -s token -- --user EMAIL: prints an API token for an existing user, and nothing else.
import { runCli } from "./lib/cli.mjs"

await runCli("token")
