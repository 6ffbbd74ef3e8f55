import type { PutParts, PutRestore, UploadedPart } from "../../lib/contracts/agentctl/archive"

export type StoredArchive = { location: string; sha256: string; bytes: number }
export type ListedArchive = { archive_id: string; location: string; bytes: number; created_at: Date }

export type Upload = {
  archive_id: string
  /** `.tar.zst` or `.tar.gz`. */
  suffix: string
  sha256: string
  bytes: number
  files: number
  /** Has the daemon send these parts; rejects with URL_EXPIRED and the parts that were done. */
  send(parts: PutParts["parts"]): Promise<UploadedPart[]>
}

/** Where archives are kept. A location is a whole URL: it stays readable in the database after the store was changed. */
export interface ArchiveStore {
  readonly kind: "folder" | "s3"
  /** A folder the daemon writes into itself; null: it is handed URLs. */
  readonly folder: string | null
  /** Brings a packed archive into the store and gives its location; repeating it finds what is there. */
  upload(archive: Upload): Promise<string>
  /** Where a daemon reads it from now. A URL runs out soon: ask again for each try. */
  source(location: string): Promise<PutRestore["source"]>
  /** Throws `archive_missing`, `checksum_mismatch` or `store_unreachable`; each store says what its answer proves. */
  verify(archive: StoredArchive): Promise<void>
  remove(location: string): Promise<void>
  list(): Promise<ListedArchive[]>
  /** Removes what broken-off work left: parts that never became an archive. */
  sweep(olderThanMs: number): Promise<number>
}

export const ARCHIVE_FILE = /^([A-Za-z0-9][A-Za-z0-9_-]{0,99})\.tar\.(zst|gz)$/
