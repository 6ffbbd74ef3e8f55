import { PassThrough } from "node:stream"
import { describe, expect, test } from "vitest"
import type { PtyState } from "../../../lib/contracts/agentctl/ptys"
import { whatEnded } from "../../../server/execution/terminals"
import type { Worker } from "../../../server/platform/database"
import { createInputQueue } from "../../../server/realtime/worker-input"
import { createWorkerViewer } from "../../../server/realtime/worker-viewer"
import { type AttachedWorker, judgeEnding } from "../../../server/workers/attach"
import { defaultName, inOrder, moved } from "../../../server/workers/tabs"

const turn = () => new Promise((resolve) => setTimeout(resolve, 5))
const tab = (id: string, position: number): Worker => ({
  ...{ id, session_id: "sess_1", type: "terminal", name: id, position, agent: null, created_at: id, closed_at: null },
  ...{ conversation_id: null, forked_from: null },
})

describe("tabs", () => {
  test("a new one takes the lowest number nobody has", () => {
    expect(defaultName("Terminal", [])).toBe("Terminal 1")
    expect(defaultName("Terminal", [{ name: "Terminal 1" }, { name: "Terminal 3" }, { name: "build" }])).toBe("Terminal 2")
  })
  test("moving one tells the place of every tab whose place it changes, and of no other", () => {
    const open = [tab("a", 0), tab("b", 1), tab("c", 2), tab("d", 3)]
    expect(moved(open, "c", 1)).toEqual([
      { kind: "worker.moved", worker_id: "c", position: 1 },
      { kind: "worker.moved", worker_id: "b", position: 2 },
    ])
    expect(moved(open, "a", 0)).toEqual([])
    expect(moved(open, "a", 99).at(-1)).toEqual({ kind: "worker.moved", worker_id: "a", position: 3 })
    expect(inOrder([tab("b", 1), tab("a", 1), tab("c", 0)]).map(({ id }) => id)).toEqual(["c", "a", "b"])
  })
})

describe("a viewer", () => {
  function viewer(window: number | undefined, full = () => false, skips: Partial<AttachedWorker> = {}) {
    const output = new PassThrough({ highWaterMark: 4096 })
    const sent: { offset: number; data: Uint8Array }[] = []
    const exits: unknown[] = []
    const redraws: { offset: number }[] = []
    let room = () => {}
    const attached = {
      ...{ generation: 1, epoch: 1, offset: 100, restored: false, snapshot: null, output },
      head: async () => null,
      ending: async () => ({ exit_code: 0, signal: null, reason: "exited" as const }),
      ...skips,
    }
    const made = createWorkerViewer(attached as unknown as AttachedWorker, window, {
      output: (piece) => void sent.push(piece),
      redraw: (redraw) => void redraws.push(redraw),
      exit: (exit) => void exits.push(exit),
      isFull: full,
      whenRoom: (callback) => {
        room = callback
      },
    })
    return { ...made, output, sent, exits, redraws, drain: () => room(), total: () => sent.reduce((sum, { data }) => sum + data.length, 0) }
  }

  test("whose output was cut off is told so when nobody can say what became of the process", async () => {
    const { start, output, exits } = viewer(undefined, () => false, { ending: () => Promise.reject(new Error("the database is away")) })
    output.destroy()
    await start()
    expect(exits).toEqual([{ exit_code: null, signal: null, reason: "lost" }])
  })

  test("gets no more than its window until it says how far it drew, and nothing is read for it meanwhile", async () => {
    const { start, output, sent, total, acknowledge } = viewer(2048)
    void start()
    for (let n = 0; n < 20; n += 1) output.write(Buffer.alloc(1000, n))
    await turn()
    expect(total()).toBe(2048)
    expect(output.readableLength + output.writableLength).toBeGreaterThan(10_000)
    acknowledge(100 + 1500)
    await turn()
    expect(total()).toBe(2048 + 1500)
    // Neither backwards nor beyond what it was given.
    acknowledge(100)
    acknowledge(1_000_000)
    await turn()
    expect(total()).toBe(2048 + 1500)
    let next = 100
    for (const { offset, data } of sent) {
      expect(offset).toBe(next)
      next += data.length
    }
  })

  test("is given nothing while its connection has not drained, and its end when all was sent", async () => {
    let full = true
    const { start, output, exits, total, drain } = viewer(undefined, () => full)
    void start()
    output.write(Buffer.alloc(5000))
    output.end()
    await turn()
    expect([total(), exits]).toEqual([0, []])
    full = false
    drain()
    await turn()
    expect([total(), exits]).toEqual([5000, [{ exit_code: 0, signal: null, reason: "exited" }]])
  })

  describe("that may skip", () => {
    const MEGABYTE = 1024 * 1024
    const aheadAt = (offset: number, epoch = 1) => {
      const output = new PassThrough()
      return {
        output,
        ahead: async () => ({ epoch, offset, size: { cols: 80, rows: 24 }, snapshot: Buffer.from("screen"), output }) as never,
      }
    }

    test("goes on from the screen when far more is there than it has drawn, and from there by contiguous offsets", async () => {
      const { output: rest, ahead } = aheadAt(9 * MEGABYTE)
      const { start, output, sent, redraws, acknowledge, exits } = viewer(2048, undefined, { head: async () => 9 * MEGABYTE, ahead })
      void start()
      output.write(Buffer.alloc(5000))
      await turn()
      acknowledge(100 + 1000)
      await turn()
      expect(redraws).toMatchObject([{ offset: 9 * MEGABYTE, cols: 80, rows: 24 }])
      expect(output.destroyed).toBe(true)
      const before = sent.length
      rest.write(Buffer.alloc(500))
      rest.end()
      await turn()
      expect(sent.slice(before)).toMatchObject([{ offset: 9 * MEGABYTE }])
      expect(exits).toHaveLength(1)
    })

    test("draws everything as long as it is not far behind", async () => {
      const { ahead } = aheadAt(0)
      const { start, output, redraws, acknowledge, total } = viewer(2048, undefined, { head: async () => MEGABYTE / 2, ahead })
      void start()
      output.write(Buffer.alloc(3000))
      await turn()
      acknowledge(100 + 1000)
      await turn()
      expect([redraws, total()]).toEqual([[], 3000])
    })

    test("is told of its process's end before anything of the next one", async () => {
      const { output: rest, ahead } = aheadAt(9 * MEGABYTE, 2)
      const { start, output, redraws, acknowledge, exits } = viewer(2048, undefined, { head: async () => 9 * MEGABYTE, ahead })
      void start()
      output.write(Buffer.alloc(5000))
      await turn()
      acknowledge(100 + 1000)
      await turn()
      expect([redraws, exits.length, rest.destroyed]).toEqual([[], 1, true])
    })
  })

  test("that is closed is told nothing more", async () => {
    const { start, output, exits, close, total } = viewer(1024)
    void start()
    output.write(Buffer.alloc(5000))
    await turn()
    close()
    await turn()
    expect([total(), exits]).toEqual([1024, []])
  })
})

describe("what is typed", () => {
  test("is written in its order, one call at a time, taking along what came meanwhile", async () => {
    const calls: string[] = []
    let release = () => {}
    const type = createInputQueue(async (bytes) => {
      calls.push(Buffer.from(bytes).toString())
      if (calls.length === 1)
        await new Promise<void>((resolve) => {
          release = resolve
        })
    })
    const all = ["a", "b", "c"].map((key) => type(key))
    await turn()
    expect(calls).toEqual(["a"])
    release()
    await Promise.all(all)
    expect(calls).toEqual(["a", "bc"])
  })
  test("and is refused by the terminal is told to those who typed it; what comes next is written", async () => {
    let refuse = true
    const type = createInputQueue(async () => {
      if (refuse) throw new Error("gone")
    })
    await expect(type("a")).rejects.toThrow("gone")
    refuse = false
    await type("b")
  })
  test("beyond a bound is refused, not kept", async () => {
    const type = createInputQueue(() => new Promise(() => {}))
    void type(new Uint8Array(1024 * 1024 - 10))
    await expect(type(new Uint8Array(11))).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
  })
})

const pty = (change: Partial<PtyState>): PtyState => ({
  ...{ worker_id: "wrk_1", type: "terminal", state: "running", epoch: 2, pid: 1, cols: 80, rows: 24, first: 0, head: 0 },
  ...{ epoch_offset: 0, exit: null, title: null, processes: [], lost: [], ...change },
})

test("a stream's end is called by what became of its process", () => {
  const exit = { exit_code: 3, signal: null }
  expect(judgeEnding(pty({ state: "exited", exit }), 2)).toEqual({ ...exit, reason: "exited" })
  expect(judgeEnding(pty({ epoch: 3 }), 2).reason).toBe("restarted")
  expect(judgeEnding(pty({}), 2).reason).toBe("lost")
  expect(judgeEnding(pty({ state: "gone" }), 2).reason).toBe("lost")
  expect(judgeEnding(null, 2).reason).toBe("lost")
})

test("what ended in a terminal is named, with the line that runs it again where it ran", () => {
  const lost = [
    { command: "npm run dev", cwd: "/w/it's here", foreground: true, alive: false },
    { command: "sleep 9", cwd: "/w", foreground: false, alive: false },
    { command: "nohup top", cwd: null, foreground: false, alive: true },
  ]
  expect(whatEnded(pty({ state: "gone", lost }), "build", "/w")).toEqual([
    { what: "build", outcome: "ended", worker_id: "wrk_1", epoch: 2 },
    { what: "npm run dev", outcome: "ended", worker_id: "wrk_1", epoch: 2, command: "cd '/w/it'\\''s here' && npm run dev" },
    { what: "sleep 9", outcome: "ended", worker_id: "wrk_1", epoch: 2, command: "sleep 9" },
    { what: "nohup top", outcome: "kept", worker_id: "wrk_1", epoch: 2 },
  ])
  expect(whatEnded(pty({ state: "running", lost }), "build", "/w")).toEqual([])
})
