import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { examineTranscript } from "../../../server/agentctl/transcripts/examine"
import { guardLoad } from "../../../server/agentctl/transcripts/guard-load"

describe("an agent's session file is examined", () => {
  const whole = `${JSON.stringify({ type: "user" })}\n${JSON.stringify({ type: "assistant" })}\n`
  test.each([
    ["whole", whole, []],
    ["whole without its last line break", whole.trimEnd(), []],
    ["empty", "", ["it is empty"]],
    ["torn", `${whole}{"type":"us`, ["its last line is torn"]],
    ["with a broken line", `{"a":1\n${whole}`, ["1 of its lines cannot be read, the first is line 1"]],
    ["with NULs at its end", `${whole}\0\0`, ["it holds 2 NUL bytes", "its last line is torn"]],
  ])("%s", (_, text, findings) => expect(examineTranscript(Buffer.from(text))).toEqual(findings))
})

describe("a load is guarded", () => {
  const place = mkdtempSync(join(tmpdir(), "rewake-transcripts-"))
  afterAll(() => rmSync(place, { recursive: true, force: true }))
  const path = join(place, "abc.jsonl")
  const copies = join(place, "copies")
  const file = { path, as: "abc.jsonl" }
  const text = `${JSON.stringify({ said: "x".repeat(200) })}\n`

  test("a file that the load emptied or removed is put back, and that is told", async () => {
    for (const destroy of [() => writeFileSync(path, ""), () => rmSync(path)]) {
      writeFileSync(path, text)
      const guard = await guardLoad([file], copies, Date.now())
      expect(await guard.destroyed()).toBe(false)
      destroy()
      expect(await guard.destroyed()).toBe(true)
      expect(await guard.undo()).toEqual([expect.stringContaining("put back")])
      expect(readFileSync(path, "utf8")).toBe(text)
    }
  })

  test("one that grew is left alone", async () => {
    writeFileSync(path, text)
    const guard = await guardLoad([file], copies, Date.now())
    writeFileSync(path, text + text)
    expect(await guard.undo()).toEqual([])
    expect(readFileSync(path, "utf8")).toBe(text + text)
  })

  test("the newest three copies stay, for nobody else to read", async () => {
    for (let at = 1; at <= 5; at++) await guardLoad([file], copies, at + 1e14)
    expect(readdirSync(copies)).toHaveLength(3)
    for (const name of readdirSync(copies)) expect(statSync(join(copies, name)).mode & 0o777).toBe(0o600)
  })

  test("a file that is not there is told, and a folder is searched by an ending", async () => {
    rmSync(path)
    expect((await guardLoad([file], copies, Date.now())).findings).toEqual(["abc.jsonl is not there"])
    expect(existsSync(path)).toBe(false)
    writeFileSync(join(place, "rollout-abc.jsonl"), `${text}{"torn`)
    const guard = await guardLoad([{ path: place, as: "sessions", ending: "-abc.jsonl" }], copies, Date.now())
    expect(guard.findings).toEqual(["rollout-abc.jsonl: its last line is torn"])
  })
})
