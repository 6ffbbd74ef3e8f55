// npm run -s invite -- --email EMAIL [--admin]: prints the link that creates an account.
import { runCli } from "./lib/cli.mjs"

await runCli("invite")
