import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

type Package = {
  name: string
  version: string
  bin?: Record<string, string>
  dependencies?: Record<string, string>
  scripts?: Record<string, string>
}

/** A registry on loopback with a few packages, for the real npm to install from. Each of its programs says its name and version. */
export async function startNpmRegistry(packages: Package[]) {
  const folder = mkdtempSync(join(tmpdir(), "rewake-registry-"))
  const tarballs = new Map(packages.map((p) => [p.name, pack(folder, p)]))
  let away = false
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "").slice(1)
    const found = packages.find((p) => path === p.name || path === `${p.name}/-/package.tgz`)
    const bytes = found && tarballs.get(found.name)
    if (away || !found || !bytes) {
      response.writeHead(404, { "content-type": "application/json" })
      response.end(JSON.stringify({ error: "not_found" }))
      return
    }
    if (path.endsWith(".tgz")) {
      response.end(bytes)
      return
    }
    const { name, version } = found
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`
    const dist = { tarball: `${url}/${name}/-/package.tgz`, integrity }
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions: { [version]: { ...found, dist } } }))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    setAway: (value: boolean) => {
      away = value
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function pack(folder: string, described: Package): Buffer {
  const { name, version, bin = {} } = described
  const root = join(folder, name.replaceAll("/", "_"))
  mkdirSync(join(root, "package"), { recursive: true })
  writeFileSync(join(root, "package", "package.json"), JSON.stringify(described))
  for (const [program, file] of Object.entries(bin))
    writeFileSync(join(root, "package", file), `#!/bin/sh\necho ${program} ${version}\n`, { mode: 0o755 })
  execFileSync("tar", ["-czf", "package.tgz", "package"], { cwd: root })
  return readFileSync(join(root, "package.tgz"))
}
