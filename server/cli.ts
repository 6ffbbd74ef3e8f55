import { readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { z } from "zod"
import { AgentctlFile } from "../lib/contracts/agentctl/protocol"
import { isAppError } from "../lib/contracts/errors"
import { CreateToken, TOKEN_DAYS } from "../lib/contracts/people"
import { AgentId, Email } from "../lib/contracts/task"
import { isFolderLocked, lockFolder } from "../lib/host/folder-lock"
import { isSameProcess } from "../lib/host/process-identity"
import { keepOwnFilesPrivate } from "../lib/host/umask"
import { type Audit, createAudit, type Trail } from "./audit"
import {
  type ApiTokens,
  createApiTokens,
  createInvitations,
  createPasswords,
  createPeople,
  type Invitations,
  type People,
  scopesOfRole,
} from "./auth"
import { createAgentctlClient, moveHere, openPlace } from "./executors"
import { type Journal, openJournal, openWriter } from "./journal"
import { realClock } from "./platform/clock"
import { type Config, ConfigError, readConfig } from "./platform/config"
import { type Database, openDatabase } from "./platform/database"
import { type BackedUp, BackupError, findDamage, makeBackup, restoreBackup } from "./platform/database-backup"
import { createLogger } from "./platform/logger"
import { migrate } from "./platform/migrate"
import { whyUnusable } from "./platform/why-unusable"
import { isServerUpAt, markFolder } from "./recovery"
import { examineAll, examineExport, exportToFolder, importSession, readExport } from "./transfer"
import { migrationsFolder } from "./wiring"

const dist = dirname(fileURLToPath(import.meta.url))
/** A server that drains longer than this is told about, not killed: it may be writing. */
const STOP_TIMEOUT_MS = 30_000
/** A living daemon has written its damaged file again by then. */
const PUBLISHED_AGAIN_MS = 10_000

const RunFile = z.object({ pid: z.number().int(), start_time: z.string(), endpoint: z.string() })
class Usage extends Error {}

const [command, ...rest] = process.argv.slice(2)
keepOwnFilesPrivate()
main().catch((error) => {
  console.error(isSentence(error) ? error.message : error)
  process.exit(1)
})

function isSentence(error: unknown): error is Error {
  return error instanceof Usage || error instanceof ConfigError || error instanceof BackupError || isAppError(error)
}

async function main() {
  const config = readConfig()
  try {
    await run(config)
  } catch (error) {
    const why = isSentence(error) ? null : whyUnusable(error, config)
    throw why === null ? error : new Usage(why, { cause: error })
  }
}

async function run(config: Config) {
  switch (command) {
    case "token":
      return withDatabase(config, async ({ people, tokens, trail }) => {
        const { values } = parseArgs({
          args: rest,
          options: {
            user: { type: "string" },
            name: { type: "string", default: "command line" },
            days: { type: "string", default: String(TOKEN_DAYS) },
            scope: { type: "string", multiple: true },
          },
        })
        const person = await people.byEmail(requireEmail(values.user, "--user"))
        if (!person) throw new Usage(`There is no user ${values.user}.`)
        const most = { scopes: scopesOfRole(person.role), expires_at: null }
        const wanted = CreateToken.safeParse({
          name: values.name,
          days: Number(values.days),
          scopes: values.scope?.flatMap((list) => list.split(",")),
        })
        if (!wanted.success)
          throw new Usage("--days is a number from 1 to 366; --scope is read, write or admin, and may be given several times.")
        const { token } = await tokens.issue(person.id, { ...wanted.data, most }, ({ id, scopes, expires_at }) => [
          trail.entry({
            action: "token.created",
            target: id,
            details: { name: values.name, user: person.email, scopes: scopes.join(" "), expires_at },
          }),
        ])
        console.log(token)
      })
    case "invite":
      return withDatabase(config, async ({ invitations, trail }) => {
        const { values } = parseArgs({ args: rest, options: { email: { type: "string" }, admin: { type: "boolean", default: false } } })
        const invitation = { email: requireEmail(values.email, "--email"), role: values.admin ? "admin" : "user" } as const
        const { code } = await invitations.invite(null, invitation, (id) => [
          trail.entry({ action: "invitation.created", target: id, details: invitation }),
        ])
        console.log(`${config.public_url ?? runningUrl(config) ?? `http://${config.host}:${config.port}`}/invite?code=${code}`)
      })
    case "export":
      return withDatabase(config, async ({ db, audit, trail }) => {
        const { values } = parseArgs({ args: rest, options: { session: { type: "string" }, to: { type: "string", default: "." } } })
        const session = values.session ? await db.session.findUnique({ where: { id: values.session } }) : null
        if (!session) throw new Usage("--session needs the id of a session.")
        for (const name of await exportToFolder(db, session, resolve(values.to))) console.log(name)
        await audit.write([trail.entry({ action: "session.exported", target: session.id, details: { owner_id: session.user_id } })])
      })
    case "import":
      return withDatabase(config, async ({ db, journal, people, audit, trail }) => {
        const { values, positionals } = parseArgs({
          args: rest,
          options: { user: { type: "string" }, agent: { type: "string" } },
          allowPositionals: true,
        })
        const person = await people.byEmail(requireEmail(values.user, "--user"))
        if (!person) throw new Usage(`There is no user ${values.user}.`)
        const agent = values.agent === undefined ? undefined : AgentId.parse(values.agent)
        const result = await importSession({ db, journal, clock: realClock }, person, readExport(positionals[0] ?? ""), {
          agent,
          repositoryOf: () => null,
          queueMax: config.queue_max,
        })
        await audit.write([trail.entry({ action: "session.imported", target: result.session_id, details: { user: person.email } })])
        console.log(JSON.stringify(result, null, 2))
      })
    case "doctor":
      return examine(config)
    case "backup": {
      const { values, positionals } = parseArgs({
        args: rest,
        options: { restore: { type: "string" }, overwrite: { type: "boolean", default: false } },
        allowPositionals: true,
      })
      const [file, ...more] = positionals
      if (values.restore !== undefined && file === undefined) return restore(config, resolve(values.restore))
      if (values.restore !== undefined || file === undefined || more.length > 0)
        throw new Usage("backup FILE [--overwrite] makes a backup; backup --restore FILE puts it in the database's place.")
      return backUp(config, resolve(file), values.overwrite)
    }
    case "moved":
      return takeMovedFolder(config)
    case "stop":
      return stopEverything(config)
    default:
      throw new Usage(
        [
          "commands: token --user EMAIL [--days N] [--scope read|write|admin], invite --email EMAIL [--admin], stop,",
          "export --session ID [--to FOLDER], import FOLDER|FILE.tar --user EMAIL, doctor [--repair FOLDER | FOLDER|FILE.tar],",
          "backup FILE [--overwrite], backup --restore FILE, moved",
        ].join("\n"),
      )
  }
}

function examine(config: Config) {
  const { values, positionals } = parseArgs({ args: rest, options: { repair: { type: "string" } }, allowPositionals: true })
  const [exported] = positionals
  if (exported === undefined) {
    // What can still be read of a damaged file is all there is to repair.
    if (values.repair === undefined) requireWholeFile(config)
    return withDatabase(config, ({ db }) => examineAll(db, values.repair && resolve(values.repair)))
  }
  if (values.repair !== undefined) throw new Usage("An export needs no repair: import keeps what can be read of it and names the rest.")
  return examineExport(exported)
}

function requireEmail(value: string | undefined, flag: string): string {
  const parsed = Email.safeParse(value)
  if (!parsed.success) throw new Usage(`${flag} needs an e-mail address.`)
  return parsed.data
}

/** Works beside a running server: the database serialises the two writers. */
async function withDatabase(
  config: Config,
  work: (tools: {
    db: Database
    journal: Journal
    people: People
    invitations: Invitations
    tokens: ApiTokens
    audit: Audit
    trail: Trail
  }) => Promise<void>,
) {
  await migrate(config.database, migrationsFolder(dirname(dist)))
  const db = await openDatabase(config.database)
  const writer = openWriter(config.database, { script: new URL("./writer-thread.mjs", import.meta.url) })
  const journal = openJournal({ writer, db, clock: realClock })
  try {
    const deps = { db, journal, clock: realClock, passwords: createPasswords(), logger: createLogger("silent") }
    const audit = createAudit(deps)
    const trail = audit.trail(null, { caller: null, address: null, via: "command_line" })
    await work({ ...deps, people: createPeople(deps), invitations: createInvitations(deps), tokens: createApiTokens(deps), audit, trail })
  } finally {
    await journal.close()
    await db.$disconnect()
  }
}

/** Pages that do not fit together would be told as damage of one session after the other, or end the look at the first. */
function requireWholeFile({ database }: Config) {
  const findings = database.kind === "sqlite" ? findDamage(database.file) : []
  if (findings.length === 0) return
  const lines = findings.map((finding) => `  ${finding.replaceAll("\n", "\n  ")}`)
  throw new Usage(
    [
      `The database file is damaged:`,
      ...lines,
      "Restore a backup with `npm run backup -- --restore FILE`; see docs/backup.md.",
      "Without one, `npm run doctor -- --repair FOLDER` saves the sessions that can still be read.",
    ].join("\n"),
  )
}

function whatIsBackedUp({ database, auth_secret_file }: Config): BackedUp {
  if (database.kind === "postgresql")
    throw new Usage("This installation uses PostgreSQL: back it up with pg_dump, and keep AUTH_SECRET with the backup. See docs/backup.md.")
  return { database: database.file, auth_secret: auth_secret_file }
}

async function backUp(config: Config, file: string, overwrite: boolean) {
  const { sessions, bytes, holds_secret } = await makeBackup(whatIsBackedUp(config), file, { overwrite, now: new Date() })
  const archives = config.archive.kind === "folder" ? config.archive.folder : `s3://${config.archive.bucket}/${config.archive.prefix}`
  console.log(`${file}: ${count(sessions, "session")}, ${(bytes / 1024 ** 2).toFixed(1)} MB, verified`)
  console.log(holds_secret ? "It holds the database and auth-secret: keep it as safe as a password." : "It holds the database.")
  console.log("It leaves out:")
  if (!holds_secret)
    console.log("  AUTH_SECRET, which is set in the environment: without it nobody stays signed in and stored keys cannot be read")
  console.log(`  archives of tasks, in ${archives}`)
  console.log(`  workspaces and repositories, in ${join(config.data_dir, "workspaces")} and ${join(config.data_dir, "repositories")}`)
  console.log(`  spools and old output of terminals, in ${join(config.data_dir, "sessions")}`)
}

async function restore(config: Config, file: string) {
  const to = whatIsBackedUp(config)
  const lock = lockFolder(join(config.data_dir, "run", "server.lock"))
  if (!lock) throw new Usage(`A server is using ${config.data_dir}. Stop it first, with \`npm stop\`.`)
  try {
    const { made_at, sessions, holds_secret, kept } = restoreBackup(file, to, new Date())
    // Unknown to any database: the next start sees that this one is older than its folder, also where there was none before.
    await markFolder(config.data_dir, { boot_id: "backup", renewals: 0 })
    console.log(`The database is the one of ${made_at} again: ${count(sessions, "session")}.`)
    if (!holds_secret) console.log("The backup holds no secret: set AUTH_SECRET to the one it was made with.")
    for (const path of kept) console.log(`Replaced, and kept as ${path}`)
    console.log("Messages that were queued are held, and open questions are withdrawn, at the next start.")
  } finally {
    lock.release()
  }
}

/** Only an admin can say it: nothing in a folder shows whether it was moved here, or copied while the original is still in use. */
function takeMovedFolder(config: Config) {
  return withDatabase(config, async ({ db }) => {
    const { last_used } = openPlace(config.data_dir)
    if (last_used === null) throw new Usage(`${config.data_dir} was last used on this machine: there is nothing to do.`)
    if (await isServerUpAt(db, last_used))
      throw new Usage(
        "A server is still up on the machine where this folder was last used, or ended a moment ago. Stop it there, then try again.",
      )
    moveHere(config.data_dir)
    const sessions = await db.executorRunning.count({ where: { place_id: last_used } })
    console.log(`On this machine from now on: ${count(sessions, "session")} of the machine where this folder was last used.`)
    console.log("If the server is running, restart it.")
  })
}

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`

function readRunFile(config: Config) {
  const run = readFileOf(config, "server.json", RunFile)
  return run && isSameProcess(run.pid, run.start_time) ? run : null
}
const runningUrl = (config: Config) => readRunFile(config)?.endpoint ?? null

/** Null when it is missing or damaged. */
function readFileOf<T>(config: Config, name: string, schema: z.ZodType<T>): T | null {
  try {
    return schema.parse(JSON.parse(readFileSync(join(config.data_dir, "run", name), "utf8")))
  } catch {
    return null
  }
}

/** The server first: while it runs it would start the daemon again. */
async function stopEverything(config: Config) {
  const server = readRunFile(config)
  if (server) {
    process.kill(server.pid, "SIGTERM")
    console.log((await ended(server.pid, server.start_time)) ? "server stopped" : "the server is still ending")
  } else if (isFolderLocked(join(config.data_dir, "run", "server.lock"))) {
    throw new Usage(`A server runs, but ${join(config.data_dir, "run", "server.json")} is missing or damaged. End it where it was started.`)
  } else console.log("no server is running")

  const daemon = await findDaemon(config)
  if (!daemon) return console.log("no agentctl is running")
  const client = createAgentctlClient({ url: daemon.endpoint, secret: daemon.secret, instance_id: daemon.instance_id })
  await client.shutdown().catch(() => process.kill(daemon.pid, "SIGTERM"))
  console.log((await ended(daemon.pid, daemon.start_time)) ? "agentctl and its agents stopped" : "agentctl is still ending its agents")
}

/** One whose file is missing or damaged holds its folder all the same, and writes the file again within seconds. */
async function findDaemon(config: Config): Promise<AgentctlFile | null> {
  for (const deadline = Date.now() + PUBLISHED_AGAIN_MS; Date.now() < deadline; await delay(100)) {
    const daemon = readFileOf(config, "agentctl.json", AgentctlFile)
    if (daemon && isSameProcess(daemon.pid, daemon.start_time)) return daemon
    if (!isFolderLocked(join(config.data_dir, "run", "agentctl.lock"))) return null
  }
  const file = join(config.data_dir, "run", "agentctl.json")
  throw new Usage(`agentctl runs, but ${file} is missing or damaged. End the process agentctl.mjs of this folder; its agents end with it.`)
}

async function ended(pid: number, startTime: string): Promise<boolean> {
  for (const deadline = Date.now() + STOP_TIMEOUT_MS; Date.now() < deadline; await delay(50)) {
    if (!isSameProcess(pid, startTime)) return true
  }
  return false
}
