/** The map in ARCHITECTURE.md, as code. Pure: a file's path and what it imports in, what is wrong with it out. */

/** Modules of the server by rank: a module imports lower ranks only. */
const SERVER_RANKS: Record<string, number> = {
  platform: 0,
  journal: 1,
  status: 2,
  "resume-tokens": 2,
  agents: 2,
  auth: 2,
  attachments: 2,
  audit: 2,
  "git-credentials": 2,
  executors: 3,
  history: 3,
  archive: 3,
  execution: 4,
  sessions: 5,
  transfer: 5,
  workers: 5,
  workspace: 5,
  reaper: 6,
  recovery: 6,
  realtime: 6,
  admin: 6,
  http: 7,
}

/** Start-up and transport: the server's own top-level files rank with http. */
const TOP_RANK = 7
const TOP_LEVEL_FILES = ["main", "wiring", "cli", "services"]

/** Outside the server: each layer may import only what is listed, and itself. */
const LAYERS: Record<string, readonly string[]> = {
  "app/api": ["server/http", "server/services", "lib/contracts", "lib"],
  app: ["components", "lib/client", "lib/contracts", "lib"],
  components: ["lib/client", "lib/contracts", "lib"],
  "lib/client": ["lib/contracts", "lib"],
  "lib/contracts": [],
  "lib/host": [],
  lib: [],
  // Processes of their own, started from a copy outside the checkout.
  "server/agentctl": ["lib/contracts", "lib/host", "lib"],
  "server/agents/demo": ["lib/contracts", "lib/host", "lib"],
}

const SERVER_MAY_IMPORT = ["lib/contracts", "lib/host", "lib"]

export function layerOf(file: string): string {
  const named = Object.keys(LAYERS).filter((layer) => file.startsWith(`${layer}/`))
  const longest = named.sort((a, b) => b.length - a.length)[0]
  if (file.startsWith("server/") && !longest?.startsWith("server/")) return serverModule(file)
  return longest ?? file.split("/")[0] ?? file
}

/** `server/journal/read.ts` → `server/journal`; `server/services.ts` → `server/services`. */
function serverModule(file: string): string {
  return file
    .split("/")
    .slice(0, 2)
    .join("/")
    .replace(/\.tsx?$/, "")
}

/** Undefined for programs of their own, and for a module that the table does not list yet. */
function rankOf(layer: string): number | undefined {
  const name = layer.slice("server/".length)
  return TOP_LEVEL_FILES.includes(name) ? TOP_RANK : SERVER_RANKS[name]
}

/** Why `file` has no place on the map, or null. An unlisted module must fail: by default it could import everything. */
export function placeProblem(file: string): string | null {
  const layer = layerOf(file)
  if (layer in LAYERS || !layer.startsWith("server/") || rankOf(layer) !== undefined) return null
  return `${layer} has no rank: list it in SERVER_RANKS and in ARCHITECTURE.md`
}

/** What is wrong with `file` importing `target` (both paths from the project's root), or null. */
export function importProblem(file: string, target: string): string | null {
  if (target.startsWith("tests/")) return "nothing imports tests"
  if (target.startsWith("scripts/")) return "the product does not import its build scripts"
  if (target.startsWith("prisma/"))
    return file === "server/platform/database.ts" ? null : "only server/platform/database.ts imports Prisma's clients"

  const from = layerOf(file)
  const to = layerOf(target)
  if (from === to) return null
  const allowed = LAYERS[from]
  if (allowed) return allowed.includes(to) ? null : `${from} may import ${allowed.join(", ") || "nothing of ours"}`
  if (SERVER_MAY_IMPORT.includes(to)) return null
  if (!to.startsWith("server/")) return `the server does not import ${to}`
  return serverImportProblem(from, to, target)
}

function serverImportProblem(from: string, to: string, target: string): string | null {
  if (to in LAYERS) return `${to} is a program of its own`
  const fromRank = rankOf(from)
  const toRank = rankOf(to)
  if (fromRank === undefined || toRank === undefined) return `${fromRank === undefined ? from : to} has no rank`
  const bothOnTop = fromRank === TOP_RANK && toRank === TOP_RANK
  if (toRank >= fromRank && !bothOnTop) return `${from} (rank ${fromRank}) may not import ${to} (rank ${toRank})`
  // The platform is a box of tools without a door; every other module is entered by its index.ts.
  const isEntrance = target === `${to}/index.ts` || target === `${to}.ts` || to === "server/platform"
  return isEntrance ? null : `enter ${to} by its index.ts`
}

const DRIVERS = ["better-sqlite3", "pg"]
const MAY_USE_DRIVERS = ["server/platform", "server/journal", "lib/host"]
const BROWSER_LAYERS = ["components", "lib/client"]

/** What is wrong with `file` importing a package, or null. */
export function packageProblem(file: string, name: string): string | null {
  const layer = layerOf(file)
  if (layer === "lib/contracts" && name !== "zod") return "lib/contracts imports zod only"
  if (DRIVERS.includes(name) && !MAY_USE_DRIVERS.includes(layer)) return `${name} belongs to ${MAY_USE_DRIVERS.join(", ")}`
  if (name.startsWith("@prisma/") && file !== "server/platform/database.ts") return "only server/platform/database.ts imports Prisma"
  if (name.startsWith("node:") && BROWSER_LAYERS.includes(layer)) return "this runs in the browser"
  return null
}

/** Everyone else is handed the configuration; programs started by the others get the environment that was inherited. */
export const MAY_READ_ENVIRONMENT = [
  "server/platform/config.ts",
  "lib/host/process-identity.ts",
  "server/agentctl/main.ts",
  "server/agentctl/git.ts",
  "server/agentctl/acp/agent-process.ts",
  "server/agentctl/pty/environment.ts",
  "server/agents/demo/main.ts",
]
