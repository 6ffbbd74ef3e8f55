import type { Database } from "../platform/database"
import { ids } from "../platform/ids"
import { type Change, insert, updateAny } from "./changes"

const key = "journal_generation"

/** Changes when a backup is restored or a session imported; a subscriber with another one loads again from 0. */
export async function journalGeneration(db: Database): Promise<string> {
  return (await db.setting.findUnique({ where: { key } }))?.value ?? "1"
}

/** Whoever followed this journal before loads it again: a seq may have meant something else in an earlier life. Any new value does, so two at once are no conflict. */
export async function newGeneration(db: Database): Promise<Change> {
  const value = ids.generation()
  const known = await db.setting.findUnique({ where: { key } })
  return known ? updateAny("settings", { key }, { value }) : insert("settings", { key, value })
}
