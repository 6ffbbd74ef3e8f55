import { readFileSync, rmSync } from "node:fs"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import next from "next"
import { lockFolder } from "../lib/host/folder-lock"
import { processStartTime } from "../lib/host/process-identity"
import { keepOwnFilesPrivate } from "../lib/host/umask"
import { writePrivateFile } from "../lib/host/write-private-file"
import { ADDRESS_HEADER, clientAddress } from "./platform/client-address"
import { type Config, ConfigError, publishToNextAuth, readConfig } from "./platform/config"
import { refuseUnknownCall } from "./platform/find-call"
import { createGate, refusalOf, refusedAnswer } from "./platform/gate"
import { createLogger, type Logger } from "./platform/logger"
import { migrate } from "./platform/migrate"
import { makePrivate } from "./platform/private-files"
import { setSecurityHeaders } from "./platform/security-headers"
import { isUnencrypted } from "./platform/unencrypted"
import { whyUnusable } from "./platform/why-unusable"
import { publishServices } from "./services"
import { createServices, migrationsFolder } from "./wiring"

const dist = dirname(fileURLToPath(import.meta.url))
const root = dirname(dist)

const IMPATIENT_AFTER_MS = 1_000
/** What has not closed by then is cut: an orderly end must come to an end. */
const SHUTDOWN_LIMIT_MS = 10_000
/**
 * Longer than clients and reverse proxies keep an idle connection (60 s is common): if this side closed it first, a request sent
 * at that moment would be lost, and a proxy would answer 502.
 */
const KEEP_ALIVE_MS = 75_000
/** Must be longer than the above: Node counts the idle time before a request's headers as well. */
const HEADERS_TIMEOUT_MS = 80_000

class StartFailed extends Error {}

async function main() {
  const started = performance.now()
  const umask = keepOwnFilesPrivate()
  const config = readConfig()
  try {
    await start(config, umask, started)
  } catch (error) {
    const why = whyUnusable(error, config)
    throw why === null ? error : new StartFailed(why, { cause: error })
  }
}

async function start(config: Config, umask: number, started: number) {
  const logger = createLogger(config.log_level)
  const lock = config.database.kind === "sqlite" ? lockDataFolder(config) : null
  closeToOthers(config, logger)
  await migrate(config.database, migrationsFolder(root))

  let answer: RequestListener = notReady
  const http = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: HEADERS_TIMEOUT_MS }, (request, response) =>
    answer(request, response),
  )
  const sockets = new Set<Socket>()
  http.on("connection", (socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  })
  const port = await listenQuietly(http, config)
  const publicUrl = config.public_url ?? `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${port}`
  publishToNextAuth(publicUrl, config.auth_secrets[0])
  const gate = createGate({ configured: config.public_url, host: config.host, port })
  const addressOf = ({ socket, headers }: IncomingMessage) =>
    clientAddress(socket.remoteAddress, String(headers["x-forwarded-for"] ?? ""), config.trusted_proxies)
  const setHeaders = (request: IncomingMessage, response: ServerResponse) => {
    // Routes see no socket: they are told the address by a header, which nobody outside may set.
    request.headers[ADDRESS_HEADER] = addressOf(request)
    setSecurityHeaders(request, response, { dev: config.dev, https: publicUrl.startsWith("https:"), origins: gate.origins })
  }
  const refuse = ({ method = "GET", url = "/", headers }: IncomingMessage) => {
    const refusal = refusalOf(gate, { method, url, headers })
    return refusal && refusedAnswer(refusal, url, publicUrl)
  }

  const services = await createServices({
    config,
    build: { id: readBuildId(), programs: join(dist, "programs"), writerScript: new URL("./writer-thread.mjs", import.meta.url) },
    logger,
    umask,
    http,
    publicUrl: () => publicUrl,
    refuse,
    setHeaders,
    addressOf,
    // Another server may act for our sessions now; anything this one still did would be done twice.
    onFenced: () => {
      logger.error("another server has taken over this server's sessions; it ends, so that it can do no harm")
      process.exit(75)
    },
  })
  publishServices(services)

  const app = next({ dev: config.dev, dir: root, hostname: config.host, port, httpServer: http, quiet: true })
  await app.prepare()
  const handle = app.getRequestHandler()
  answer = (request, response) => {
    setHeaders(request, response)
    const refused = refuse(request) ?? refuseUnknownCall(request.method ?? "GET", request.url ?? "/")
    if (refused !== null) {
      response.writeHead(refused.status, { "content-type": refused.type, ...refused.headers })
      response.end(refused.body)
      return
    }
    handle(request, response).catch((error) => logger.error({ err: error }, "page failed"))
  }

  // In development Next has a socket of its own. Elsewhere an upgrade that nobody takes would stay open for ever.
  if (!config.dev)
    http.on("upgrade", (request, socket) => {
      if (request.url?.startsWith("/socket.io/")) return
      socket.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", () => socket.destroy())
    })

  const runFile = join(config.data_dir, "run", "server.json")
  writePrivateFile(
    runFile,
    JSON.stringify({ pid: process.pid, start_time: processStartTime(process.pid), endpoint: publicUrl, boot_id: services.boot.id }),
  )

  const recovered = services.recover().catch((error) => logger.error({ err: error }, "recovery failed"))
  greet(publicUrl, services.setupCode(), performance.now() - started)
  if (isUnencrypted(config.host, publicUrl)) console.log(UNENCRYPTED)

  let endingSince: number | null = null
  const end = async (signal: NodeJS.Signals) => {
    if (endingSince !== null) {
      // Ctrl-C arrives twice, from the terminal and from the program that started us; only a later one means "at once".
      if (Date.now() - endingSince > IMPATIENT_AFTER_MS) process.exit(1)
      return
    }
    endingSince = Date.now()
    const open = await services.db.session.findMany({ where: { open_run_id: { not: null } }, select: { id: true } }).catch(() => [])
    console.log(
      farewell(
        signal,
        open.map((row) => row.id),
      ),
    )
    setTimeout(() => {
      logger.warn("the server did not close in time and ends all the same")
      process.exit(0)
    }, SHUTDOWN_LIMIT_MS).unref()
    // Upgraded ones too, which the server itself no longer counts.
    for (const socket of sockets) socket.destroy()
    await recovered
    await services.close()
    lock?.release()
    rmSync(runFile, { force: true })
    process.exit(0)
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void end(signal))
}

function closeToOthers(config: Config, logger: Logger) {
  const { corrected, failed } = makePrivate(config.data_dir, config.database.kind === "sqlite" ? config.database.file : null)
  const named = (paths: string[]) => ({ count: paths.length, paths: paths.slice(0, 5) })
  if (corrected.length > 0) logger.warn(named(corrected), "other users of this machine could read files of Rewake; corrected")
  if (failed.length > 0) logger.warn(named(failed), "other users of this machine can read files of Rewake; their modes cannot be changed")
}

function lockDataFolder(config: Config) {
  const lock = lockFolder(join(config.data_dir, "run", "server.lock"))
  if (!lock) throw new StartFailed(`Another Rewake server is using ${config.data_dir}.\nStop it first, or set DATA_DIR to another folder.`)
  return lock
}

/** The port is bound before the pages are ready; a request in between gets an answer, not silence. */
const notReady: RequestListener = (_request, response) => {
  response.writeHead(503, {
    ...{ "content-type": "application/json", "retry-after": "1", "cache-control": "no-store" },
    ...{ "x-content-type-options": "nosniff", "content-security-policy": "default-src 'none'; frame-ancestors 'none'" },
  })
  response.end(JSON.stringify({ code: "NOT_READY", message: "The server is starting." }))
}

/** Bound before anything else is started, so that a taken port is told at once and nothing has to be undone. */
function listenQuietly(http: ReturnType<typeof createServer>, config: Config): Promise<number> {
  return new Promise((resolve, reject) => {
    http.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE")
        reject(new StartFailed(`Port ${config.port} on ${config.host} is taken by another program.\nSet PORT to another one.`))
      else if (error.code === "EACCES")
        reject(new StartFailed(`Not allowed to listen on port ${config.port}.\nSet PORT to one above 1023.`))
      else reject(error)
    })
    http.listen(config.port, config.host, () => resolve((http.address() as AddressInfo).port))
  })
}

const readBuildId = () => (JSON.parse(readFileSync(join(dist, "build.json"), "utf8")) as { build: string }).build

function greet(publicUrl: string, setupCode: string | null, took: number) {
  console.log(`\n  Rewake is ready after ${(took / 1000).toFixed(1)} s\n  ${publicUrl}\n`)
  if (setupCode) console.log(`  Open this link once to become the first admin:\n\n${publicUrl}/setup?code=${setupCode}\n`)
}

const UNENCRYPTED = `  Warning: passwords and cookies travel unencrypted to this server, and others on the network can read them.
  Put a proxy with TLS in front of it, and set PUBLIC_URL to its https address.
`

function farewell(signal: string, open: readonly string[]): string {
  if (open.length === 0) return `\n  ${signal}: the server ends. No session is working; agents stay ready in agentctl.`
  const list = open.map((id) => `    ${id}`).join("\n")
  return `\n  ${signal}: the server ends. ${open.length === 1 ? "1 session goes" : `${open.length} sessions go`} on in agentctl, to be adopted at the next start:\n${list}`
}

main().catch((error) => {
  // Every expected failure has its sentence; the rest keeps its stack.
  console.error(error instanceof ConfigError || error instanceof StartFailed ? `\n  ${error.message.replaceAll("\n", "\n  ")}\n` : error)
  process.exit(1)
})
