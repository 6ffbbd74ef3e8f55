import fc from "fast-check"
import { expect, test } from "vitest"
import { createKeyedQueue } from "../../../server/platform/keyed-queue"

test("jobs of one key run one at a time, in the order asked, whatever fails; other keys do not wait", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.record({ key: fc.constantFrom("a", "b"), fails: fc.boolean() }), { maxLength: 15 }),
      async (scheduler, jobs) => {
        const queue = createKeyedQueue()
        const running = new Map<string, number>()
        const order: Record<string, number[]> = { a: [], b: [] }
        const asked = jobs.map(({ key, fails }, i) =>
          queue.run(key, async () => {
            expect(running.get(key) ?? 0).toBe(0)
            running.set(key, 1)
            order[key]?.push(i)
            await scheduler.schedule(Promise.resolve())
            running.set(key, 0)
            if (fails) throw new Error(`job ${i}`)
            return i
          }),
        )
        const settled = Promise.allSettled(asked)
        await scheduler.waitFor(settled)
        for (const [i, result] of (await settled).entries()) {
          expect(result).toEqual(jobs[i]?.fails ? { status: "rejected", reason: new Error(`job ${i}`) } : { status: "fulfilled", value: i })
        }
        for (const key of ["a", "b"]) expect(order[key]).toEqual(jobs.flatMap((job, i) => (job.key === key ? [i] : [])))
        await queue.idle()
      },
    ),
  )
})

test("idle settles when everything asked for so far has ended, and at once when there is nothing", async () => {
  const queue = createKeyedQueue()
  await queue.idle()
  let ended = false
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const job = queue.run("a", async () => {
    await gate
    ended = true
  })
  const idle = queue.idle()
  open()
  await idle
  await job
  expect(ended).toBe(true)
})
