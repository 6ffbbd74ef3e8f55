import { createHash, randomBytes } from "node:crypto"
import { linkSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { writePrivateFile } from "../../lib/host/write-private-file"

/**
 * Names the place of this data folder's daemon: a random id kept in the folder, and the machine's own. A folder that was copied to
 * another machine is another place, whose daemon knows nothing of the first one's agents. Never the hostname, which a container
 * changes at every start.
 */
export const placeOf = (dataDir: string): string =>
  `place_${createHash("sha256")
    .update(`${folderId(dataDir)}\n${machineId()}`)
    .digest("hex")
    .slice(0, 24)}`

function folderId(dataDir: string): string {
  const file = join(dataDir, "place-id")
  const known = read(file)
  if (known) return known
  // Two servers that start at once over one folder must agree: the first link stands.
  const draft = `${file}.${process.pid}`
  writePrivateFile(draft, randomBytes(16).toString("hex"))
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  } finally {
    rmSync(draft, { force: true })
  }
  const made = read(file)
  if (!made) throw new Error(`${file} is empty. Put its content back, or remove it if no session was ever started in this folder.`)
  return made
}

/** Empty in many containers, where the folder's own id has to do. */
const machineId = () => read("/etc/machine-id") ?? read("/var/lib/dbus/machine-id") ?? ""

function read(file: string): string | null {
  try {
    return readFileSync(file, "utf8").trim() || null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null
    throw error
  }
}
