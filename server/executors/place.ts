import { createHash, randomBytes } from "node:crypto"
import { linkSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { writePrivateFile } from "../../lib/host/write-private-file"
import { ConfigError } from "../platform/config"

export type Place = {
  /** The data folder on this machine. */
  id: string
  /** This place, and those the folder was moved from: their sessions are here too. */
  ids: readonly string[]
  /** The place the folder was last used at, if that was on another machine. Only a user knows whether it was moved here or copied. */
  last_used: string | null
}

/** places.json: the place the folder was last used at, and the earlier places whose sessions it has taken along. */
const Places = z.object({ id: z.string(), moved_from: z.array(z.string()) })

/**
 * The place of this data folder's daemon: a random id kept in the folder, and the machine's own. A folder that was copied to
 * another machine is another place, whose daemon knows nothing of the first one's agents. Never the hostname, which a container
 * changes at every start.
 */
export function openPlace(dataDir: string): Place {
  const folder = folderId(dataDir)
  if (!folder)
    throw new ConfigError(`${folderFile(dataDir)} is empty. Restore it from a copy: it tells which sessions belong to this folder.`)
  const id = `place_${createHash("sha256").update(`${folder}\n${machineId()}`).digest("hex").slice(0, 24)}`
  const known = readPlaces(dataDir)
  if (known && known.id !== id) return { id, ids: [id], last_used: known.id }
  if (!known) writePlaces(dataDir, { id, moved_from: [] })
  return { id, ids: [id, ...(known?.moved_from ?? [])], last_used: null }
}

/** For a folder that holds its own database: all sessions of that database are here, so damaged files are made anew. */
export function openOnlyPlace(dataDir: string): Place {
  try {
    return moveHere(dataDir)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const file of [folderFile(dataDir), placesFile(dataDir)]) rmSync(file, { force: true })
    return openPlace(dataDir)
  }
}

/** For a folder that was moved to this machine: the sessions of its earlier places are here from now on. */
export function moveHere(dataDir: string): Place {
  const place = openPlace(dataDir)
  if (place.last_used === null) return place
  const earlier = [place.last_used, ...(readPlaces(dataDir)?.moved_from ?? [])]
  writePlaces(dataDir, { id: place.id, moved_from: earlier.filter((id) => id !== place.id) })
  return openPlace(dataDir)
}

const placesFile = (dataDir: string) => join(dataDir, "places.json")
const writePlaces = (dataDir: string, places: z.infer<typeof Places>) => writePrivateFile(placesFile(dataDir), JSON.stringify(places))

function readPlaces(dataDir: string): z.infer<typeof Places> | null {
  const text = read(placesFile(dataDir))
  if (text === null) return null
  try {
    return Places.parse(JSON.parse(text))
  } catch (cause) {
    // Made anew, it would forget where the folder was moved from, and the sessions of then would count as another server's.
    throw new ConfigError(
      `${placesFile(dataDir)} is damaged. Restore it from a copy. Remove it only if this folder was never moved from another machine.`,
      {
        cause,
      },
    )
  }
}

const folderFile = (dataDir: string) => join(dataDir, "place-id")

/** Null when somebody emptied the file. */
function folderId(dataDir: string): string | null {
  const file = folderFile(dataDir)
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
  return read(file)
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
