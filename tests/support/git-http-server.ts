import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { git } from "./archives"

export type GitServer = Awaited<ReturnType<typeof startGitServer>>

/** git's own server program over HTTP on loopback, with one repository that only this user and password may read. */
export async function startGitServer({ username, password }: { username: string; password: string }) {
  const folder = mkdtempSync(join(tmpdir(), "rewake-git-server-"))
  const work = join(folder, "work")
  mkdirSync(work)
  git(work, "init", "-q", "-b", "main")
  const commit = (name: string) => {
    writeFileSync(join(work, name), name)
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", name)
    if (name !== "first.txt") git(work, "push", "-q", join(folder, "repo.git"), "main")
  }
  commit("first.txt")
  git(folder, "clone", "-q", "--bare", work, "repo.git")

  const expected = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`
  const requests: { url: string; authorization: string | undefined }[] = []
  let redirectTo: string | null = null
  let onSignedIn = () => {}
  const server = createServer((request, response) => {
    const { url = "/", headers } = request
    requests.push({ url, authorization: headers.authorization })
    if (redirectTo !== null) return void response.writeHead(302, { location: `${redirectTo}${url}` }).end()
    if (headers.authorization !== expected)
      return void response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end("Sign in first.")
    onSignedIn()
    runBackend(folder, request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    url: `http://${host}/repo.git`,
    requests,
    commit,
    redirectAll: (to: string | null) => {
      redirectTo = to
    },
    /** Called while git, signed in, waits for its answer. */
    whileGitRuns: (look: () => void) => {
      onSignedIn = look
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const BACKEND = join(execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(), "git-http-backend")

function runBackend(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? "/", "http://x")
  const header = (name: string) => String(request.headers[name] ?? "")
  const child = spawn(BACKEND, {
    env: {
      ...process.env,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method ?? "GET",
      CONTENT_TYPE: header("content-type"),
      HTTP_CONTENT_ENCODING: header("content-encoding"),
      GIT_PROTOCOL: header("git-protocol"),
    },
    stdio: ["pipe", "pipe", "inherit"],
  })
  request.pipe(child.stdin)
  const chunks: Buffer[] = []
  child.stdout.on("data", (bytes: Buffer) => chunks.push(bytes))
  child.on("close", () => {
    const said = Buffer.concat(chunks)
    const end = said.indexOf("\r\n\r\n")
    const headers = said
      .subarray(0, end)
      .toString("latin1")
      .split("\r\n")
      .map((line) => line.split(": ") as [string, string])
    const status = headers.find(([name]) => name === "Status")?.[1] ?? "200"
    response.writeHead(Number.parseInt(status, 10), Object.fromEntries(headers.filter(([name]) => name !== "Status")))
    response.end(said.subarray(end + 4))
  })
}
