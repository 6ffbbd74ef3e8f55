// Generates both Prisma clients from the one schema: prisma/generated/{sqlite,postgresql}.
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { clientsStamp, forClient, PROVIDERS, prismaFolder, schemaFile } from "./schema-variants.mjs"

const schema = readFileSync(schemaFile, "utf8")
const work = join(prismaFolder, ".gen", String(process.pid))
const fresh = join(work, "clients")
mkdirSync(fresh, { recursive: true })

try {
  for (const provider of PROVIDERS) {
    const file = join(work, `${provider}.prisma`)
    writeFileSync(file, forClient(schema, provider, `./clients/${provider}`))
    prisma(["generate", "--schema", file, "--no-hints"])
  }
  writeFileSync(join(fresh, "stamp"), clientsStamp())
  // A process that imports the clients while they are generated must never see half of them.
  const generated = join(prismaFolder, "generated")
  rmSync(join(work, "previous"), { recursive: true, force: true })
  try {
    renameSync(generated, join(work, "previous"))
  } catch (error) {
    if (error.code !== "ENOENT") throw error
  }
  renameSync(fresh, generated)
} finally {
  rmSync(work, { recursive: true, force: true })
}

function prisma(args) {
  const cli = join(prismaFolder, "..", "node_modules", "prisma", "build", "index.js")
  const { status } = spawnSync(process.execPath, [cli, ...args], {
    cwd: join(prismaFolder, ".."),
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      // Without an existing file here the command first tries to download an engine that generating never runs.
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      CHECKPOINT_DISABLE: "1",
      PRISMA_HIDE_UPDATE_MESSAGE: "1",
    },
  })
  if (status !== 0) throw new Error("prisma generate failed; its message is above")
}
