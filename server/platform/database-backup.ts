import { constants, copyFileSync, existsSync, linkSync, readFileSync, renameSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import Database from "better-sqlite3"
import { syncFile, syncFolder, writePrivateFile } from "../../lib/host/write-private-file"
import { storageTroubleIn } from "./storage-trouble"

/** A backup that cannot be made or used as asked; its message is for the user. */
export class BackupError extends Error {}

/** Where an installation with the embedded database keeps what a backup holds. */
export type BackedUp = { database: string /** Null where the environment brings the secret. */; auth_secret: string | null }
export type BackupInfo = { made_at: string; holds_secret: boolean; sessions: number; bytes: number }

/** The backup's own table. A restored database does not have it. */
const TABLE = "rewake_backup"
const ALL_PAGES = 0x7fffffff
/** As many findings as anybody reads. */
const MOST_FINDINGS = 10

/**
 * One SQLite file: the database as it is at one moment, also while a server writes, and the secret in a table of its own. Readers
 * see the whole file under its name or none: it is made beside it, checked, and renamed once it is on disk.
 */
export async function makeBackup(from: BackedUp, file: string, options: { overwrite: boolean; now: Date }): Promise<BackupInfo> {
  if (!existsSync(from.database)) throw new BackupError(`There is no database at ${from.database}.`)
  if (!existsSync(dirname(file))) throw new BackupError(`There is no folder ${dirname(file)}.`)
  if (file === from.database) throw new BackupError("This is the database itself. Choose another file.")
  refuseExisting(file, options)
  const draft = `${file}.${process.pid}.tmp`
  try {
    await copyDatabase(from.database, draft)
    const findings = findDamage(draft)
    if (findings.length > 0) throw new BackupError(`No backup was made: ${from.database} is damaged. ${findings.join("; ")}`)
    addSecret(draft, from.auth_secret, options.now)
    const info = checkBackup(draft)
    syncFile(draft)
    // Once more: another backup may have taken the name meanwhile.
    refuseExisting(file, options)
    renameSync(draft, file)
    syncFolder(dirname(file))
    return info
  } catch (error) {
    if (storageTroubleIn(error) !== "full") throw error
    throw new BackupError(`No backup was made: the disk of ${dirname(file)} is full.`, { cause: error })
  } finally {
    removeDatabase(draft)
  }
}

function refuseExisting(file: string, { overwrite }: { overwrite: boolean }) {
  if (!overwrite && existsSync(file)) throw new BackupError(`${file} exists already. Choose another name, or add --overwrite.`)
}

async function copyDatabase(from: string, to: string): Promise<void> {
  const db = new Database(from, { fileMustExist: true, timeout: 10_000 })
  try {
    // Holds one moment of the database: without it the copy would begin anew with every commit of a busy server.
    db.exec("BEGIN")
    db.prepare("SELECT count(*) FROM sqlite_master").get()
    await db.backup(to, { progress: () => ALL_PAGES })
  } finally {
    db.close()
  }
}

function addSecret(draft: string, secretFile: string | null, now: Date): void {
  const db = new Database(draft)
  try {
    // A file of its own, without another one beside it that would have to be kept with it.
    db.pragma("journal_mode = DELETE")
    db.exec(`CREATE TABLE ${TABLE} (made_at TEXT NOT NULL, auth_secret TEXT)`)
    const secret = secretFile === null ? null : readFileSync(secretFile, "utf8")
    db.prepare(`INSERT INTO ${TABLE} VALUES (?, ?)`).run(now.toISOString(), secret)
  } finally {
    db.close()
  }
}

type Contents = { made_at: string; auth_secret: string | null }

/** Reads every page of it. Changes nothing. */
export function checkBackup(file: string): BackupInfo {
  const damage = (what: string) => new BackupError(`${file} is damaged, or not a backup of Rewake: ${what}`)
  if (!existsSync(file)) throw new BackupError(`There is no file ${file}.`)
  const db = new Database(file, { readonly: true })
  try {
    const findings = integrityFindings(db)
    if (findings.length > 0) throw damage(findings.join("; "))
    const { made_at, auth_secret } = readContents(db)
    const { sessions } = db.prepare("SELECT count(*) AS sessions FROM sessions").get() as { sessions: number }
    const { bytes } = db.prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size").get() as {
      bytes: number
    }
    return { made_at, holds_secret: auth_secret !== null, sessions, bytes }
  } catch (error) {
    throw error instanceof BackupError ? error : damage((error as Error).message)
  } finally {
    db.close()
  }
}

const readContents = (db: Database.Database) => db.prepare(`SELECT made_at, auth_secret FROM ${TABLE}`).get() as Contents

function integrityFindings(db: Database.Database): string[] {
  try {
    const rows = db.pragma(`integrity_check(${MOST_FINDINGS})`) as { integrity_check: string }[]
    return rows.map((row) => row.integrity_check).filter((line) => line !== "ok")
  } catch (error) {
    return [(error as Error).message]
  }
}

/** What is wrong with a database file as a file; nothing when its pages fit together. */
export function findDamage(file: string): string[] {
  if (!existsSync(file)) return []
  const db = new Database(file, { readonly: true, timeout: 10_000 })
  try {
    return integrityFindings(db)
  } finally {
    db.close()
  }
}

/**
 * Puts a backup in the database's place. Whoever calls holds the folder's lock: no server may run. The replaced files stay beside the
 * new ones; cut short at any point, the same command does it again.
 */
export function restoreBackup(file: string, to: BackedUp, now: Date): BackupInfo & { kept: string[] } {
  const info = checkBackup(file)
  const draft = `${to.database}.${process.pid}.tmp`
  const kept: string[] = []
  try {
    copyFileSync(file, draft, constants.COPYFILE_FICLONE)
    const secret = takeSecret(draft)
    syncFile(draft)
    const suffix = `.replaced-${now.toISOString().replace(/[:.]/g, "-")}`
    if (secret !== null && to.auth_secret !== null) kept.push(...replaceSecret(to.auth_secret, secret, suffix, existsSync(to.database)))
    kept.push(...setAside(to.database, suffix))
    renameSync(draft, to.database)
    syncFolder(dirname(to.database))
    return { ...info, kept }
  } finally {
    removeDatabase(draft)
  }
}

/** Out of the copy, and out of the pages it was in. */
function takeSecret(draft: string): string | null {
  const db = new Database(draft)
  try {
    db.pragma("secure_delete = ON")
    const { auth_secret } = readContents(db)
    db.exec(`DROP TABLE ${TABLE}`)
    return auth_secret
  } finally {
    db.close()
  }
}

/** One that no database was ever used with was made a moment ago, and is worth nothing. */
function replaceSecret(file: string, secret: string, suffix: string, wasUsed: boolean): string[] {
  if (existsSync(file) && readFileSync(file, "utf8") === secret) return []
  const isKept = wasUsed && existsSync(file)
  if (isKept) keepAs(file, `${file}${suffix}`)
  writePrivateFile(file, secret)
  return isKept ? [`${file}${suffix}`] : []
}

/**
 * The database keeps its name until the new one takes it. What its log still holds belongs to it and to no other: left behind, it
 * would be written into the new one.
 */
function setAside(database: string, suffix: string): string[] {
  if (!existsSync(database)) {
    removeLogs(database)
    return []
  }
  foldLog(database)
  const aside = join(dirname(database), `${basename(database)}${suffix}`)
  keepAs(database, aside)
  const log = `${database}-wal`
  const kept = existsSync(log) ? [aside, `${aside}-wal`] : [aside]
  if (existsSync(log)) renameSync(log, `${aside}-wal`)
  removeLogs(database)
  return kept
}

/** Moves what is in its log into the database itself, where it can: one that is damaged is kept as it is. */
function foldLog(database: string): void {
  try {
    const db = new Database(database)
    try {
      db.pragma("wal_checkpoint(TRUNCATE)")
    } finally {
      db.close()
    }
  } catch {
    // Kept with its log beside it.
  }
}

/** A second name for the same file; a copy where the file system has no such names. */
function keepAs(file: string, aside: string): void {
  try {
    linkSync(file, aside)
  } catch {
    copyFileSync(file, aside, constants.COPYFILE_EXCL)
  }
}

function removeLogs(database: string): void {
  for (const suffix of ["-wal", "-shm", "-journal"]) rmSync(`${database}${suffix}`, { force: true })
}

function removeDatabase(file: string): void {
  rmSync(file, { force: true })
  removeLogs(file)
}
