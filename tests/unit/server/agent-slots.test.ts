import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { startOrder } from "../../../server/execution/start-order"
import { agentsInMemory } from "../../../server/platform/config"

const of = (user_id: string, ...ids: string[]) => ids.map((session_id) => ({ session_id, user_id }))
const idsOf = (order: { session_id: string }[]) => order.map(({ session_id }) => session_id)

describe("the order in which waiting sessions start", () => {
  test("one user's sessions start in the order they came", () => {
    expect(idsOf(startOrder(of("ann", "a1", "a2", "a3"), new Map([["ann", 4]])))).toEqual(["a1", "a2", "a3"])
  })

  test("a user with few agents goes before one with many who came earlier, then they take turns", () => {
    const waiting = [...of("ann", "a1", "a2", "a3"), ...of("bob", "b1", "b2")]
    expect(
      idsOf(
        startOrder(
          waiting,
          new Map([
            ["ann", 3],
            ["bob", 1],
          ]),
        ),
      ),
    ).toEqual(["b1", "b2", "a1", "a2", "a3"])
    expect(idsOf(startOrder(waiting, new Map()))).toEqual(["a1", "b1", "a2", "b2", "a3"])
  })

  test("everybody waiting is placed once, and nobody is passed by a later session of the same user", () => {
    const one = fc.record({ user_id: fc.constantFrom("ann", "bob", "cho"), n: fc.nat() })
    fc.assert(
      fc.property(fc.array(one), fc.dictionary(fc.constantFrom("ann", "bob", "cho"), fc.nat(9)), (given, running) => {
        const waiting = given.map(({ user_id }, i) => ({ user_id, session_id: String(i).padStart(3, "0") }))
        const order = startOrder(waiting, new Map(Object.entries(running)))
        expect([...order].sort((a, b) => a.session_id.localeCompare(b.session_id))).toEqual(waiting)
        for (const user of ["ann", "bob", "cho"]) {
          const own = idsOf(order.filter(({ user_id }) => user_id === user))
          expect(own).toEqual([...own].sort())
        }
      }),
    )
  })
})

test("the default number of agents follows the memory, and is never below four", () => {
  expect([512e6, 4e9, 24e9].map(agentsInMemory)).toEqual([4, 6, 36])
})
