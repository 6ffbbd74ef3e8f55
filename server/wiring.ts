import type { Server as HttpServer } from "node:http"
import { dirname, join } from "node:path"
import { AppError, isAppError } from "../lib/contracts/errors"
import { createSystemStatus } from "./admin"
import {
  createAgentRegistry,
  createAgentVariables,
  createCustomAgents,
  createInstalls,
  createMcpServers,
  createObservations,
  demoAgents,
  readAgentsFile,
  vendorAgents,
} from "./agents"
import { createArchiveStore } from "./archive"
import { createAttachments } from "./attachments"
import { createAudit } from "./audit"
import {
  createApiTokens,
  createCurrentUser,
  createIdentities,
  createInvitations,
  createPasswords,
  createPeople,
  createRateLimits,
  createRuntimeAccess,
  createSignInLimit,
  createSignIns,
  createStandings,
  mostGrantable,
  newSecret,
  signInWithPassword,
} from "./auth"
import { type Coordinator, createCoordinator, createReach } from "./execution"
import { createStandaloneExecutor, type Executors, installPrograms, notConfigured, openOnlyPlace, openPlace, type Place } from "./executors"
import { createGitCredentials } from "./git-credentials"
import { noNotices, openJournal, openPostgresNotices, openWriter, updateAny } from "./journal"
import { realClock } from "./platform/clock"
import { onDamagedColumn } from "./platform/columns"
import type { Config } from "./platform/config"
import { type Database, openDatabase } from "./platform/database"
import type { Logger } from "./platform/logger"
import { createMetrics } from "./platform/metrics"
import { createStorageProbe } from "./platform/storage-probe"
import { createGateway, type GatewayDeps, startTroubleWatch } from "./realtime"
import { createReaper, findExpired } from "./reaper"
import {
  bootSweep,
  createAccessSweep,
  recoverBeforeItsTurn,
  settleRestoredBackup,
  startBoot,
  startTakeoverSweep,
  startWaitSweep,
} from "./recovery"
import { mintToken } from "./resume-tokens"
import type { Services } from "./services"
import { createSessions } from "./sessions"
import { createTransfer } from "./transfer"
import { createWorkers } from "./workers"
import { createWorkspace } from "./workspace"

/** Where this build's files lie. */
export type Build = { id: string; programs: string; writerScript: URL | string }

/** Every module built once, in the order of their ranks. Whoever starts something here stops it here. */
export async function createServices(options: {
  config: Config
  build: Build
  logger: Logger
  /** The one the server was started with, for whatever is started for users. */
  umask: number
  http: HttpServer
  publicUrl: () => string
  refuse: GatewayDeps["refuse"]
  setHeaders: GatewayDeps["setHeaders"]
  addressOf: GatewayDeps["addressOf"]
  onFenced: () => void
}): Promise<Services & { recover: () => Promise<void>; close: () => Promise<void> }> {
  const { config, build, logger, http, publicUrl } = options
  const clock = realClock
  const alone = isInside(config.data_dir, config.database)
  onDamagedColumn((cell) => logger.error({ cell }, "a cell of the database cannot be read; the doctor names all of them"))
  const db = await openDatabase(config.database)
  const notices =
    config.database.kind === "sqlite"
      ? noNotices
      : openPostgresNotices(config.database.url, (error) => logger.warn({ err: error }, "notices failed"))
  const writer = openWriter(config.database, { script: build.writerScript, origin: notices.origin })
  const journal = openJournal({ writer, db, clock })
  const restored = await settleRestoredBackup({ journal, db, data_dir: config.data_dir, logger })
  const place = alone ? openOnlyPlace(config.data_dir) : openPlace(config.data_dir)
  const boot = await startBoot({
    journal,
    db,
    data_dir: config.data_dir,
    place,
    logger,
    alone,
    onFenced: options.onFenced,
    onDatabaseBack: () => coordinator.retryNow(),
  })

  const audit = createAudit({ db, journal, clock, logger })
  const access = createRuntimeAccess({ db, journal })
  const programs = installPrograms({ from: build.programs, data_dir: config.data_dir, build: build.id })
  const variables = createAgentVariables({ db, journal, clock, secrets: config.auth_secrets })
  const mcpServers = createMcpServers({ db, journal, clock, secrets: config.auth_secrets })
  const gitCredentials = createGitCredentials({ db, journal, clock, secrets: config.auth_secrets })
  if (config.auth_secrets.length > 1) {
    const resealed = [...(await variables.resealed()), ...(await mcpServers.resealed()), ...(await gitCredentials.resealed())]
    if (resealed.length > 0) {
      await journal.write(resealed)
      logger.info({ values: resealed.length }, "stored keys were sealed again with the first AUTH_SECRET")
    }
  }
  const agents = await createAgentRegistry({
    builtIn: [...(config.demo_agents ? demoAgents({ programs, node: process.execPath }) : []), ...vendorAgents],
    fromFile: readAgentsFile(config.agents_file),
    custom: createCustomAgents({ db, journal, clock }),
    variables,
    installs: createInstalls({ folder: join(config.data_dir, "agents"), env: config.child_env, logger }),
    observations: await createObservations({ db, journal }),
    data_dir: config.data_dir,
    env: config.child_env,
  })
  const executors: Executors = {
    standalone: createStandaloneExecutor({
      data_dir: config.data_dir,
      place,
      shared: !alone,
      programs,
      build: build.id,
      node: process.execPath,
      env: config.child_env,
      orphan_hours: config.agentctl_orphan_hours,
      umask: options.umask,
      logger,
    }),
    docker: notConfigured("docker"),
    remote: notConfigured("remote"),
  }
  const elsewhere = alone ? 0 : await countElsewhere(db, place)
  if (elsewhere > 0)
    logger.warn({ sessions: elsewhere }, "sessions of this database are at other servers' data folders, and are left to those servers")
  if (place.last_used !== null)
    logger.warn(
      { place: place.last_used },
      "this data folder was last used on another machine: if it was moved here and not copied, run `npm run moved`, or its sessions stay there",
    )
  const archives = createArchiveStore(config.archive)
  const coordinator: Coordinator = createCoordinator({
    journal,
    db,
    clock,
    logger,
    executors,
    agents,
    mcpServers,
    gitCredentials,
    boot_id: boot.id,
    data_dir: config.data_dir,
    archives: { store: archives, max_bytes: config.archive_max_bytes },
    onRestoreProgress: (userId, progress) => gateway.restoreProgress(userId, progress),
    mint: () => mintToken(config.auth_secrets[0], clock.now(), config.wait_deadline_hours),
    max_retries: config.max_retries,
    max_running_agents: config.max_running_agents,
    announce: (userId, taskId) => gateway.announce(userId, taskId),
    mayRun: access.isAllowed,
    isBootAlive: boot.isAlive,
    isPlaceServed: boot.isPlaceServed,
    takeOverFrom: boot.takeOverFrom,
    askOwner: (session_id, ask) => void notices.tell({ session_id, ask }).catch((error) => logger.warn({ err: error }, "owner not told")),
  })

  const passwords = createPasswords()
  const people = createPeople({ db, journal, clock, passwords })
  const invitations = createInvitations({ db, journal, clock, passwords })
  const identities = createIdentities({ db, journal, clock, passwords, invitations, domains: config.oidc?.domains ?? [] })
  const tokens = createApiTokens({ db, journal, clock })
  const signIns = createSignIns({ db, journal, clock })
  const signInLimit = createSignInLimit()
  const secureCookie = publicUrl().startsWith("https:")
  const currentUser = createCurrentUser({ people, tokens, signIns, secrets: config.auth_secrets, secureCookie })
  const attachments = createAttachments({ db, journal, clock })
  const sessions = createSessions({
    db,
    journal,
    clock,
    logger,
    config,
    agents,
    access,
    coordinator,
    removeArchive: (location) => archives.remove(location),
    tellDeleted: (taskId) =>
      void notices.tell({ task_deleted: taskId }).catch((error) => logger.warn({ err: error }, "other servers not told of a deleted task")),
    boot_id: boot.id,
    announce: (userId, taskId) => gateway.announce(userId, taskId),
  })
  const transfer = createTransfer({
    db,
    journal,
    clock,
    access,
    repositoryOf: sessions.usableRepository,
    queueMax: config.queue_max,
  })
  const sweepDeps = {
    db,
    journal,
    coordinator,
    agents,
    boot,
    clock,
    logger,
    autoResume: config.auto_resume,
    hasExpired: sessions.hasExpired,
  }
  const reach = createReach({ db, executors, recover: (sessionId) => recoverBeforeItsTurn(sweepDeps, sessionId) })
  const workers = createWorkers({ db, journal, clock, logger, agents, access, reach })
  const workspace = createWorkspace({ db, journal, clock, logger, access, reach, append: sessions.append })
  const gateway = createGateway({
    http,
    journal,
    db,
    sessions,
    workers,
    workspace,
    currentUser,
    standings: createStandings({ people, tokens, signIns, access }),
    addressOf: options.addressOf,
    audit,
    logger,
    refuse: options.refuse,
    setHeaders: options.setHeaders,
  })
  const accessSweep = createAccessSweep({ db, access, boot, audit, logger, stopWork: sessions.stopWork })
  function enforceAccess() {
    gateway.recheck().catch((error) => logger.warn({ err: error }, "sockets were not compared with their users' rights"))
    void accessSweep.changed()
  }
  function accessChanged() {
    enforceAccess()
    notices.tell({ access_changed: true }).catch((error) => logger.warn({ err: error }, "other servers not told of changed rights"))
  }
  notices.listen((notice) => {
    if ("access_changed" in notice) return enforceAccess()
    if ("task_deleted" in notice) return void sessions.purgeTask(notice.task_deleted)
    const { session_id, head, ask } = notice
    coordinator.heard(session_id, ask ?? null)
    if (head !== undefined) gateway.grewTo(session_id, head).catch((error) => logger.warn({ err: error }, "notice not passed on"))
  })
  notices.whenHeardAgain(() => {
    lookAgain().catch((error) => logger.warn({ err: error }, "what was told meanwhile could not be looked up"))
  })
  async function lookAgain() {
    const queued = await db.prompt.findMany({ where: { state: "queued" }, distinct: ["session_id"], select: { session_id: true } })
    for (const id of new Set([...coordinator.ownedSessions(), ...queued.map((prompt) => prompt.session_id)])) coordinator.heard(id, {})
    await gateway.lookAgain()
    enforceAccess()
  }
  const waitSweep = startWaitSweep({ db, coordinator, clock, logger })
  let takeoverSweep: { stop: () => void } | null = null
  const reaper = createReaper({
    db,
    clock,
    config,
    coordinator,
    store: archives,
    logger,
    attachments,
    purgeDeletedTasks: sessions.purgeDeletedTasks,
  })

  if (config.admin && !(await people.any())) {
    const trail = audit.trail("first_admin.created", { caller: null, address: null, via: "server" })
    await people.createFirstAdmin({ ...config.admin, name: "Admin" }, (made) => [trail.entry({ user: made, target: made.id })])
  }
  let setupCode = (await people.any()) ? null : newSecret("setup")
  let ready = false
  const probeStorage = createStorageProbe({
    read: () => db.boot.findUnique({ where: { id: boot.id } }),
    // A write like any other, which changes nothing.
    write: () => journal.write([updateAny("boots", { id: boot.id }, { pid: process.pid })]),
    folders: [config.data_dir, ...(config.database.kind === "sqlite" ? [dirname(config.database.file)] : [])],
  })
  const troubleWatch = startTroubleWatch(gateway, probeStorage)

  return {
    config,
    db,
    logger,
    boot,
    agents,
    mcpServers,
    audit,
    gitCredentials,
    people,
    invitations,
    identities,
    tokens,
    signIns,
    signInLimit,
    rateLimits: createRateLimits(),
    runtimeAccess: access,
    attachments,
    sessions,
    transfer,
    workspace,
    workers,
    admin: createSystemStatus({
      db,
      sessions,
      coordinator,
      insensitive: config.database.kind === "postgresql",
      findExpired: () => findExpired({ db, clock, config }),
      archiveExpiredNow: reaper.runNow,
      store: config.archive,
    }),
    gateway,
    currentUser,
    signInWithPassword: (given, trail) => signInWithPassword({ db, journal, passwords, signIns, signInLimit }, given, trail),
    async endSignIn({ user_id, sign_in }, address) {
      const user = await db.user.findUnique({ where: { id: user_id } })
      const caller = user && { person: user, via: "browser" as const, credential_id: sign_in }
      // Ended before, by an admin or by time: signing out of it is no error.
      const trail = audit.trail("sign_in.ended", { caller, address })
      await signIns.end(user_id, sign_in, [trail.entry({ target: sign_in })]).catch((error) => {
        if (!isAppError(error)) throw error
      })
      accessChanged()
    },
    accessChanged,
    mostOf: mostGrantable,
    cookieSettings: () => ({ secret: config.auth_secrets[0], secure: secureCookie }),
    publicUrl,
    setupCode: () => setupCode,
    firstAdminMade: () => {
      setupCode = null
    },
    whyNotReady: async () => (ready ? probeStorage() : new AppError("NOT_READY", "The server is starting.", {})),
    metrics: createMetrics({
      connections: { help: "open sockets", read: gateway.connections },
      sessions_owned: { help: "sessions this server acts for", read: () => coordinator.ownedSessions().length },
      starts_waiting: { help: "sessions that wait until another agent ends", read: () => coordinator.waitingStarts() },
      runs_open: { help: "runs without an end", read: () => db.session.count({ where: { open_run_id: { not: null } } }) },
      waits_open: { help: "questions nobody has answered", read: () => db.resumeToken.count({ where: { state: "live" } }) },
    }),
    async recover() {
      ready = true
      await bootSweep(sweepDeps, restored)
      takeoverSweep = startTakeoverSweep(sweepDeps)
      accessSweep.start()
      reaper.start()
      await sessions.purgeDeletedTasks().catch((error) => logger.warn({ err: error }, "deleted tasks are removed later"))
    },
    async close() {
      ready = false
      waitSweep.stop()
      troubleWatch.stop()
      takeoverSweep?.stop()
      await accessSweep.stop()
      workers.stop()
      await reaper.stop()
      await gateway.close()
      workspace.close()
      await coordinator.close()
      agents.close()
      await boot.end()
      await notices.close()
      await journal.close()
      await db.$disconnect()
    },
  }
}

async function countElsewhere(db: Database, { ids }: Place): Promise<number> {
  const places = await db.executorRunning.groupBy({ by: ["place_id"], where: { status: { notIn: ["none", "deleted"] } }, _count: true })
  return places.filter(({ place_id }) => place_id && !ids.includes(place_id)).reduce((sum, { _count }) => sum + _count, 0)
}

/** The folder's lock is then the database's as well. */
const isInside = (folder: string, database: Config["database"]) => database.kind === "sqlite" && dirname(database.file) === folder

export const migrationsFolder = (root: string) => join(root, "prisma", "migrations")
