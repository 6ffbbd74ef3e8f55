import type { Config } from "../platform/config"
import { openPostgresWriter } from "./postgres-writer"
import { openSqliteWriter } from "./sqlite-writer"
import type { Writer } from "./writer"

/** The writer of this database. `script` is the built writer thread, which only SQLite needs; `origin` names us to other servers. */
export const openWriter = (database: Config["database"], options: { script: URL | string; origin?: string }): Writer =>
  database.kind === "sqlite"
    ? openSqliteWriter({ file: database.file, script: options.script })
    : openPostgresWriter(database.url, options.origin)
