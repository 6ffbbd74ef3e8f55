import fc from "fast-check"
import { expect, test } from "vitest"
import { placesAfterMove } from "../../../server/sessions/queue"

type Row = { id: string; rank: number }
const inOrder = (rows: readonly Row[]) => [...rows].sort((a, b) => a.rank - b.rank)

function move(rows: readonly Row[], id: string, position: number): Row[] {
  const places = placesAfterMove(inOrder(rows), id, position)
  return rows.map((row) => ({ ...row, rank: places.find((place) => place.prompt_id === row.id)?.rank ?? row.rank }))
}
function moveInList(list: readonly string[], id: string, position: number): string[] {
  const others = list.filter((one) => one !== id)
  return [...others.slice(0, position), id, ...others.slice(position)]
}
const queueOf = (size: number): Row[] => Array.from({ length: size }, (_, i) => ({ id: `prm_${i}`, rank: i }))

test("after any sequence of moves the queue is in the order a plain list would be", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.array(fc.tuple(fc.nat(), fc.nat({ max: 12 })), { maxLength: 150 }), (size, moves) => {
      let rows = queueOf(size)
      let list = rows.map((row) => row.id)
      for (const [which, position] of moves) {
        const id = `prm_${which % size}`
        rows = move(rows, id, position)
        list = moveInList(list, id, position)
        expect(inOrder(rows).map((row) => row.id)).toEqual(list)
      }
    }),
  )
})

test("two messages swapped over and over keep distinct places: there is always room between neighbours", () => {
  let rows = queueOf(3)
  let list = rows.map((row) => row.id)
  for (let i = 0; i < 500; i++) {
    const last = list[2] as string
    rows = move(rows, last, 1)
    list = moveInList(list, last, 1)
    expect(inOrder(rows).map((row) => row.id)).toEqual(list)
    expect(new Set(rows.map((row) => row.rank)).size).toBe(3)
  }
})

test("moving one message touches one row while there is room", () => {
  expect(placesAfterMove(queueOf(5), "prm_4", 1)).toEqual([{ prompt_id: "prm_4", rank: 0.5 }])
  expect(placesAfterMove(queueOf(5), "prm_4", 0)).toEqual([{ prompt_id: "prm_4", rank: -1 }])
  expect(placesAfterMove(queueOf(5), "prm_0", 99)).toEqual([{ prompt_id: "prm_0", rank: 5 }])
  expect(placesAfterMove(queueOf(1), "prm_0", 3)).toEqual([{ prompt_id: "prm_0", rank: 0 }])
})

test("messages that share a place are told apart by the move", () => {
  const tied = queueOf(4).map((row) => ({ ...row, rank: 0 }))
  expect(inOrder(move(tied, "prm_3", 1)).map((row) => row.id)).toEqual(["prm_0", "prm_3", "prm_1", "prm_2"])
})
