// Where things are in a checkout. Everything under scripts/lib runs before node_modules exists: node: modules only.
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..")
export const inProject = (...parts) => join(root, ...parts)

const OLDEST_NODE = [20, 19]

export function requireSupportedNode() {
  const [major, minor] = process.versions.node.split(".").map(Number)
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return
  console.error(`Rewake needs Node.js ${OLDEST_NODE.join(".")} or newer; this is ${process.versions.node}.`)
  process.exit(1)
}
