import { open, rename } from "node:fs/promises"
import { dirname } from "node:path"

/** A rename is on disk only when its folder is; without this a power loss may bring the old name back. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r")
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Readers see the old content or the new one, never half. Callers serialise writes to one path: both would use the same draft. */
export async function replaceFile(path: string, content: string | Buffer): Promise<void> {
  const draft = `${path}.tmp`
  const file = await open(draft, "w", 0o600)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "EISDIR") throw error
    await setAside(path)
    await rename(draft, path)
  })
  await syncFolder(dirname(path))
}

/** Frees the name of a damaged file, which is kept as evidence. */
export async function setAside(path: string): Promise<void> {
  await rename(path, `${path}.broken-${Date.now()}`)
  await syncFolder(dirname(path))
}
