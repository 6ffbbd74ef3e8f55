import { dirname } from "node:path"
import type { Config } from "./config"
import { storageTroubleIn } from "./storage-trouble"

type Where = Pick<Config, "database" | "data_dir">

/** Why a program that has just begun cannot use its database or its folder, and what to do; null for any other error. Pure. */
export function whyUnusable(error: unknown, { database, data_dir }: Where): string | null {
  const refusal = database.kind === "postgresql" ? refusals[codeOf(error)] : undefined
  if (refusal) return refusal
  const trouble = storageTroubleIn(error)
  if (trouble === null) return null
  if (trouble === "full") return `${fullDisk(error, { database, data_dir })} What was saved is kept. Free some space, then try again.`
  if (database.kind === "postgresql")
    return trouble === "damaged"
      ? `PostgreSQL says that its data is damaged (${codeOf(error)}). Restore a backup of it; see docs/backup.md.`
      : `PostgreSQL at ${new URL(database.url).host} does not answer (${codeOf(error)}).\nStart it, or correct DATABASE_URL.`
  return trouble === "damaged"
    ? `The database file ${database.file} is damaged.\nSee what is wrong with it with \`npm run doctor\`, and restore a backup with \`npm run backup -- --restore FILE\`.`
    : `The database file ${database.file} cannot be used (${codeOf(error)}).\nCheck its permissions, its disk, and whether another program holds it.`
}

const refusals: Record<string, string> = {
  "28P01": "PostgreSQL refuses the user or the password in DATABASE_URL.",
  "28000": "PostgreSQL refuses the user in DATABASE_URL.",
  "3D000": "PostgreSQL has no database of the name in DATABASE_URL. Create it first.",
}

function fullDisk(error: unknown, { database, data_dir }: Where): string {
  if (codeOf(error) === "53100") return "PostgreSQL's disk is full."
  const folders = database.kind === "sqlite" ? new Set([data_dir, dirname(database.file)]) : new Set([data_dir])
  return `The disk of ${[...folders].join(" or ")} is full.`
}

function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "unknown"
  const { code, cause, errors, message } = error as { code?: unknown; cause?: unknown; errors?: unknown[]; message?: unknown }
  if (typeof code === "string") return code
  const inner = cause ?? errors?.[0]
  return inner === undefined ? String(message) : codeOf(inner)
}
