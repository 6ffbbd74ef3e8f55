import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect } from "vitest"
import type { ImportResult } from "../../lib/contracts/transfer"
import { tarHeader, tarPadding } from "../../server/transfer/tar"
import type { Rewake } from "./server"

const run = promisify(execFile)

/** A session as the tar that its export is. */
export async function exported(rewake: Rewake, sessionId: string): Promise<Buffer> {
  const response = await fetch(`${rewake.url}/api/v1/sessions/${sessionId}/export`, {
    headers: { authorization: `Bearer ${rewake.token}` },
  })
  expect(response.status).toBe(200)
  expect(response.headers.get("content-type")).toBe("application/x-tar")
  return Buffer.from(await response.arrayBuffer())
}
export async function imported(
  rewake: Rewake,
  body: Buffer,
  query = "",
): Promise<{ status: number; body: ImportResult & { code?: string } }> {
  const response = await fetch(`${rewake.url}/api/v1/sessions/import${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${rewake.token}` },
    body: new Uint8Array(body),
  })
  return { status: response.status, body: (await response.json()) as ImportResult }
}
export async function unpack(tar: Buffer): Promise<{ folder: string; files: Record<string, string> }> {
  const folder = mkdtempSync(join(tmpdir(), "rewake-export-"))
  writeFileSync(join(folder, "e.tar"), tar)
  await run("tar", ["-xf", "e.tar"], { cwd: folder })
  rmSync(join(folder, "e.tar"))
  const names = readdirSync(folder).filter((name) => name.startsWith("sess_"))
  return { folder, files: Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), "utf8")])) }
}
export function pack(files: Record<string, Buffer>): Buffer {
  const parts = Object.entries(files).flatMap(([name, content]) => [
    tarHeader(name, content.length, new Date(0)),
    content,
    tarPadding(content.length),
  ])
  return Buffer.concat([...parts, Buffer.alloc(1024)])
}
/** Events as the lines of a log. */
export const lines = (events: readonly object[]) => Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(""))
