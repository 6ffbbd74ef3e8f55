import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { PromptLedger, type SpooledPrompts } from "../../../server/agentctl/prompt-ledger"
import { ids } from "../../../server/platform/ids"
import { Daemon, newDataDir } from "../../support/daemon"
import { damages } from "../../support/damages"

const CUT: SpooledPrompts = { accepted: [], of: "some" }
const entryOf = (prompt_id: string) => ({ prompt_id, run_id: "run_a", body_sha256: "0".repeat(64) })
const pause = () => new Promise((resolve) => setTimeout(resolve, 3))

describe("a damaged ledger, beside a spool whose oldest records are gone", () => {
  let folder: string
  let path: string
  const prompts: string[] = []
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "rewake-ledger-"))
    path = join(folder, "sess_a.prompts.jsonl")
    const ledger = await PromptLedger.open(path, { accepted: [], of: "none" })
    prompts.length = 0
    for (let n = 0; n < 3; n++) {
      prompts.push(ids.prompt())
      await pause()
      await ledger.record(entryOf(prompts[n] as string))
      await pause()
    }
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const lines = () => readFileSync(path, "utf8").split("\n")
  const replaceLine = (nth: number, by: string) => writeFileSync(path, lines().with(nth, by).join("\n"))

  test.each(["%&/()", "\0\0\0\0", "{}", '{"prompt_id":"prm_', "[1]"])(
    "an unreadable line in the middle, %j, may be any id made before the next line",
    async (by) => {
      replaceLine(1, by)
      const ledger = await PromptLedger.open(path, CUT)
      expect(ledger.find(prompts[0] as string)).not.toBeNull()
      expect(ledger.find(prompts[1] as string)).toBeNull()
      expect(ledger.mayHaveLost(prompts[1] as string)).toBe(true)
      expect(ledger.mayHaveLost("an-id-of-another-form")).toBe(true)
      expect(ledger.mayHaveLost(ids.prompt())).toBe(false)
      // Nothing of it is forgotten with the next entry.
      await pause()
      await ledger.record(entryOf(ids.prompt()))
      const again = await PromptLedger.open(path, CUT)
      expect(again.mayHaveLost(prompts[1] as string)).toBe(true)
      expect(again.mayHaveLost(ids.prompt())).toBe(false)
    },
  )

  test.each(Object.entries(damages).filter(([what]) => what !== "cut in half"))(
    "%s: any id made until it was opened may be lost",
    async (_, damage) => {
      damage(path)
      const ledger = await PromptLedger.open(path, CUT)
      for (const id of prompts) expect(ledger.find(id) !== null || ledger.mayHaveLost(id)).toBe(true)
      await pause()
      const later = ids.prompt()
      expect(ledger.mayHaveLost(later)).toBe(false)
      await pause()
      await ledger.record(entryOf(later))
      expect((await PromptLedger.open(path, CUT)).find(later)).not.toBeNull()
    },
  )

  test("a torn last line is harmless: its prompt was never sent", async () => {
    writeFileSync(path, `${readFileSync(path, "utf8")}{"prompt_id":"prm_torn","run`)
    const ledger = await PromptLedger.open(path, CUT)
    expect(ledger.isDamaged).toBe(false)
    expect(ledger.mayHaveLost("prm_torn")).toBe(false)
    await ledger.record(entryOf("prm_torn"))
    expect(lines()).toHaveLength(5)
  })

  test("a spool that still has all its records fills the holes", async () => {
    replaceLine(1, "%&")
    const ledger = await PromptLedger.open(path, { accepted: prompts.map(entryOf), of: "all" })
    expect(ledger.isDamaged).toBe(false)
    for (const id of prompts) expect(ledger.find(id)).toEqual(entryOf(id))
  })

  test("a folder in its place is set aside", async () => {
    rmSync(path)
    mkdirSync(path)
    const ledger = await PromptLedger.open(path, CUT)
    expect(ledger.mayHaveLost(prompts[0] as string)).toBe(true)
    await ledger.record(entryOf("prm_new"))
    expect(lines()).toHaveLength(2)
  })
})

test("a daemon whose ledger was damaged gives a prompt to no agent twice, and takes new ones", async () => {
  const dataDir = newDataDir()
  const first = await Daemon.start(dataDir)
  const hurt = Object.keys(damages)
  const heard = new Map<string, string>()
  for (const [nth] of [...hurt, "healthy"].entries()) {
    const id = `sess_${nth}`
    await first.ready(id)
    heard.set(id, ids.prompt())
    const stream = first.events(id)
    await first.prompt(id, heard.get(id) as string, "remember kiwi")
    await stream.until("turn.ended")
    await stream.end()
  }
  await first.kill()
  for (const [nth, what] of hurt.entries()) {
    damages[what]?.(join(dataDir, `sessions/sess_${nth}.prompts.jsonl`))
    // The spool cannot help either.
    const spool = join(dataDir, `sessions/sess_${nth}.messages.jsonl`)
    writeFileSync(spool, readFileSync(spool, "utf8").replace(/^.*"prompt\.accepted".*$/m, "%&/"))
  }
  const second = await Daemon.start(dataDir)
  try {
    for (const [id, prompt] of heard) {
      await second.putAgent(id, `again_${id}`)
      const what = hurt[Number(id.slice(5))] ?? "healthy"
      expect((await second.prompt(id, prompt, "remember kiwi")).body, what).toEqual({ accepted: true, duplicate: true })
      expect((await second.prompt(id, ids.prompt(), "recall")).body, what).toEqual({ accepted: true, duplicate: false })
    }
    expect(second.mistakes()).toEqual([])
  } finally {
    await second.kill()
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
})
