import { createHash } from "node:crypto"
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { NewSpoolRecord, SpoolRecord } from "../../../lib/contracts/agentctl/protocol"
import { silentLog } from "../../../server/agentctl/log"
import { RejectedFiles } from "../../../server/agentctl/rejected-files"
import { SPOOL_LIMITS, Spool } from "../../../server/agentctl/spool"

let folder: string
let path: string
const opened: Spool[] = []
const open = async (limits: Partial<typeof SPOOL_LIMITS> = {}) => {
  const spool = await Spool.open(path, "sess_a", { ...SPOOL_LIMITS, ...limits }, new RejectedFiles(join(folder, "rejected")), silentLog)
  opened.push(spool)
  return spool
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rewake-spool-"))
  path = join(folder, "sess_a.messages.jsonl")
})
afterEach(async () => {
  for (const spool of opened.splice(0)) await spool.close()
  rmSync(folder, { recursive: true, force: true })
})

const delta = (content: string): NewSpoolRecord => ({ kind: "message.delta", run_id: null, message_id: "msg_1", role: "agent", content })
const contents = (records: SpoolRecord[]) => records.map((r) => (r.kind === "message.delta" ? r.content : r.kind))

async function readAll(spool: Spool, after = 0): Promise<SpoolRecord[]> {
  let offset = await spool.locate(after)
  let text = ""
  for (;;) {
    const bytes = await spool.read(offset)
    if (bytes === null) throw new Error("cut away")
    if (bytes.length === 0) break
    text += bytes.toString("utf8")
    offset += bytes.length
  }
  return text
    .split("\n")
    .filter((l) => l !== "")
    .map((l) => JSON.parse(l))
}

async function filled(words: string[]): Promise<string[]> {
  const spool = await open()
  for (const word of words) spool.append(delta(word))
  await spool.durable()
  await spool.close()
  return readFileSync(path, "utf8").split("\n")
}

test("a torn last line is taken back, and its number is given to the next record", async () => {
  await filled(["a", "b", "c"])
  truncateSync(path, statSync(path).size - 7)
  const spool = await open()
  expect(spool.head).toBe(2)
  spool.append(delta("d"))
  await spool.durable()
  expect((await readAll(spool)).map((r) => r.n)).toEqual([1, 2, 3])
  expect(contents(await readAll(spool))).toEqual(["a", "b", "d"])
})

test("a tail of NULs, with or without a line end, is taken back", async () => {
  for (const tail of ["\0\0\0\0", "\0\0\0\n", '\0\0\0","kind":"message.delta"}\n{"n":5', "\n\0\0"]) {
    rmSync(path, { force: true })
    await filled(["a", "b"])
    appendFileSync(path, tail)
    const spool = await open()
    spool.append(delta("c"))
    await spool.durable()
    expect(contents((await readAll(spool)).filter((r) => r.kind !== "record.rejected"))).toEqual(["a", "b", "c"])
    expect(readFileSync(path).includes(0)).toBe(false)
    await spool.close()
  }
})

test("an unreadable line in the middle is replaced by its fingerprint, and what follows is kept", async () => {
  const lines = await filled(["a", "b", "c", "d"])
  const broken = (lines[2] as string).replace('"kind"', "#kind#")
  writeFileSync(path, [...lines.slice(0, 2), broken, ...lines.slice(3)].join("\n"))
  const spool = await open()
  const records = await readAll(spool)
  expect(contents(records)).toEqual(["a", "record.rejected", "c", "d"])
  expect(records.map((r) => r.n)).toEqual([1, 2, 3, 4])
  const digest = createHash("sha256").update(`${broken}\n`).digest("hex")
  expect(records[1]).toMatchObject({ sha256: digest })
  expect(readdirSync(folder).some((name) => name.includes(".damaged-"))).toBe(true)
})

test("lines that ran into one another leave a record for every number that was lost", async () => {
  const lines = await filled(["a", "b", "c", "d", "e"])
  writeFileSync(path, [lines[0], lines[1], `${lines[2]?.slice(0, 20)}${lines[3]}`, lines[4], lines[5], ""].join("\n"))
  const records = await readAll(await open())
  expect(contents(records)).toEqual(["a", "record.rejected", "record.rejected", "d", "e"])
  expect(records.map((r) => r.n)).toEqual([1, 2, 3, 4, 5])
})

test("a number damaged into another number does not make the later records look repeated", async () => {
  const lines = await filled(["a", "b", "c", "d"])
  writeFileSync(path, [lines[0], lines[1], lines[2]?.replace('{"n":2,', '{"n":2222,'), lines[3], lines[4], ""].join("\n"))
  expect(contents(await readAll(await open()))).toEqual(["a", "record.rejected", "c", "d"])
})

test("an unreadable header moves the spool aside and begins another under a new id", async () => {
  await filled(["a"])
  const old = JSON.parse(readFileSync(path, "utf8").split("\n")[0] as string).spool_id
  writeFileSync(path, "garbage\nmore\n")
  const spool = await open()
  expect(spool.id).not.toBe(old)
  expect(spool.head).toBe(0)
  expect(readdirSync(folder).some((name) => name.includes(".broken-"))).toBe(true)
})

test("records that wait while another is being written share its successor's sync and stay in order", async () => {
  const spool = await open()
  for (let i = 1; i <= 5000; i++) {
    spool.append(delta(String(i)))
    if (i % 700 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await spool.durable()
  expect(contents(await readAll(spool))).toEqual(Array.from({ length: 5000 }, (_, i) => String(i + 1)))
  for (const after of [0, 1, 99, 100, 2345, 4999, 5000])
    expect((await readAll(spool, after))[0]?.n).toBe(after < 5000 ? after + 1 : undefined)
})

test("acknowledged records are cut from the file, the rest keeps its numbers, also for a reader in the middle and after a reopening", async () => {
  const spool = await open({ cutBytes: 64 * 1024 })
  const text = "x".repeat(1000)
  for (let i = 0; i < 400; i++) spool.append(delta(text))
  await spool.durable()
  const reader = await spool.locate(350)
  const before = statSync(path).size
  spool.ack(300)
  while (spool.first === 1) await new Promise((resolve) => setImmediate(resolve))
  await expect.poll(() => statSync(path).size).toBeLessThan(before / 2)
  expect(spool.first).toBeGreaterThan(280)
  expect(spool.first).toBeLessThanOrEqual(301)
  expect(await spool.read(await spool.locate(0))).toBeTruthy()
  expect(JSON.parse(String((await spool.read(reader)) ?? "").split("\n")[0] as string).n).toBe(351)
  expect((await readAll(spool, 320)).map((r) => r.n)).toEqual(Array.from({ length: 80 }, (_, i) => 321 + i))
  spool.append(delta("after the cut"))
  await spool.durable()
  spool.ack(401)
  await expect.poll(() => spool.first).toBe(402)
  spool.append(delta("the last"))
  await spool.durable()
  await spool.close()
  const again = await open()
  expect([again.id, again.first, again.head]).toEqual([spool.id, 402, 402])
  expect(contents(await readAll(again, 401))).toEqual(["the last"])
})

test("a reader that has fallen behind a cut is told so instead of being given the wrong bytes", async () => {
  const spool = await open({ cutBytes: 64 * 1024 })
  for (let i = 0; i < 200; i++) spool.append(delta("x".repeat(1000)))
  await spool.durable()
  const behind = await spool.locate(10)
  spool.ack(200)
  await expect.poll(() => spool.first).toBe(201)
  expect(await spool.read(behind)).toBeNull()
})

test("a reader that knows more than the disk does not lose the records to come", async () => {
  await filled(["a", "b"])
  const spool = await open()
  spool.continueAfter(5)
  spool.append(delta("c"))
  await spool.durable()
  expect((await readAll(spool, 5)).map((r) => [r.n, r.kind])).toEqual([
    [6, "record.rejected"],
    [7, "message.delta"],
  ])
  expect((await readAll(spool, 3)).map((r) => r.n)).toEqual([6, 7])
  await spool.close()
  const again = await open()
  expect(again.head).toBe(7)
  expect((await readAll(again, 1)).map((r) => r.n)).toEqual([2, 6, 7])
})

test("a full spool has no room until it is acknowledged", async () => {
  const spool = await open({ unackedBytes: 100_000 })
  while (spool.hasRoom()) spool.append(delta("x".repeat(1000)))
  await spool.durable()
  const never = new AbortController().signal
  let released = false
  const waiting = spool.room(never).then(() => {
    released = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(released).toBe(false)
  spool.ack(spool.head)
  await waiting
  expect(spool.hasRoom()).toBe(true)
})
