import { createHash } from "node:crypto"
import { createReadStream, createWriteStream, existsSync, statSync } from "node:fs"
import { mkdir, readdir } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { Database, Session } from "../platform/database"
import { examineLog, examineSession } from "./doctor"
import { type ExportFile, exportFiles, toTar } from "./export-session"
import { ATTACHED } from "./import-attachments"
import { readTar } from "./tar"

const LOG = /(sess_[A-Za-z0-9_-]{1,100})\.messages\.jsonl$/

/** The session's files as files, for people who look at them with other tools. */
export async function exportToFolder(db: Database, session: Session, folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true })
  const files = await exportFiles(db, session)
  for (const file of files) {
    await mkdir(dirname(join(folder, file.name)), { recursive: true })
    await pipeline(Readable.from(file.content()), createWriteStream(join(folder, file.name), { mode: 0o600 }))
  }
  return files.map((file) => join(folder, file.name))
}

/** An export as a stream of tar, whether it lies there as one file or as a folder of them. */
export async function* readExport(path: string): AsyncGenerator<Uint8Array> {
  if (!existsSync(path)) throw new Error(`There is no ${path || "file: name a folder or a tar file"}.`)
  if (statSync(path).isDirectory()) yield* toTar(await filesIn(path), new Date())
  else yield* createReadStream(path) as AsyncIterable<Buffer>
}

async function filesIn(folder: string): Promise<ExportFile[]> {
  const attached = (await readdir(join(folder, "attachments")).catch(() => [])).map((name) => `attachments/${name}`)
  const names = [...(await readdir(folder)).filter((name) => name.startsWith("sess_")).sort(), ...attached.sort()]
  return names.map((name) => {
    const path = join(folder, name)
    return { name, size: statSync(path).size, content: () => createReadStream(path) as AsyncIterable<Buffer> }
  })
}

/** Prints what a reader would leave out of an export; the exit code says whether it is anything. */
export async function examineExport(path: string): Promise<void> {
  const attached = new Map<string, string>()
  const whole = new Set<string>()
  for await (const entry of readTar(readExport(path))) {
    const hash = ATTACHED.exec(entry.name)?.[1]
    if (hash && (await hashOf(entry.content)) === hash) whole.add(hash)
    const id = LOG.exec(entry.name)?.[1]
    if (!id) continue
    const { events, skipped, attachments } = await examineLog(entry.content, id, basename(entry.name))
    console.log(`${entry.name}: ${events} events can be read, ${skipped.length} records are damaged or unknown`)
    for (const { line, reason, kept } of skipped) console.log(`  line ${line}: ${reason}${kept ? ", kept as it is" : ", left out"}`)
    for (const { sha256, name } of attachments) attached.set(sha256, name)
    if (skipped.length > 0) process.exitCode = 1
  }
  for (const [hash, name] of attached) {
    if (whole.has(hash)) continue
    console.log(`attachments/${hash}: ${name} is missing, or is not what was attached`)
    process.exitCode = 1
  }
}

async function hashOf(content: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash("sha256")
  for await (const chunk of content) hash.update(chunk)
  return hash.digest("hex")
}

/**
 * Every session's rows against its log. Changes nothing; with `repairTo`, a copy of each session that has a problem is written there as
 * an export, without what cannot be read.
 */
export async function examineAll(db: Database, repairTo?: string): Promise<void> {
  const sessions = await db.session.findMany({ select: { id: true }, orderBy: { id: "asc" } })
  let problems = 0
  for (const { id } of sessions) {
    const findings = await examineSession(db, id).catch((error) => [
      { session_id: id, problem: `could not be examined to the end: ${error instanceof Error ? error.message : String(error)}` },
    ])
    problems += findings.length
    for (const { session_id, problem } of findings) console.log(`${session_id}: ${problem}`)
    if (repairTo !== undefined && findings.length > 0) await writeRepaired(db, id, join(repairTo, id))
  }
  console.log(`${sessions.length} sessions examined, ${problems} problems`)
  if (problems > 0) process.exitCode = 1
}

/** One that cannot even be copied does not keep the others from it. */
async function writeRepaired(db: Database, id: string, folder: string): Promise<void> {
  try {
    const session = await db.session.findUniqueOrThrow({ where: { id } })
    await exportToFolder(db, session, folder)
    console.log(`${id}: a copy without what cannot be read is in ${folder}`)
    console.log(`${id}: to use it, delete its task here or take another server, then npm run import -- ${folder} --user EMAIL`)
  } catch (error) {
    console.log(`${id}: no copy could be written: ${error instanceof Error ? error.message : String(error)}`)
  }
}
