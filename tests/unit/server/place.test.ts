import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { moveHere, openOnlyPlace, openPlace } from "../../../server/executors"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rewake-place-"))
})
afterEach(() => rmSync(folder, { recursive: true }))

const file = (name: string) => join(folder, name)
/** As on another machine: a test can change only the folder's half of a place. */
const onAnotherMachine = (n: number) => writeFileSync(file("place-id"), String(n).repeat(32))

describe("the place of a data folder", () => {
  test("is the same at every start, in files that only their owner can read", () => {
    const first = openPlace(folder)
    expect(first).toEqual({ id: expect.stringMatching(/^place_[0-9a-f]{24}$/), ids: [first.id], last_used: null })
    expect(openPlace(folder)).toEqual(first)
    for (const name of ["place-id", "places.json"]) expect(statSync(file(name)).mode & 0o777).toBe(0o600)
  })

  test("is another one on another machine, and stays so until it is said that the folder was moved", () => {
    const first = openPlace(folder)
    onAnotherMachine(1)
    const second = openPlace(folder)
    expect(second.id).not.toBe(first.id)
    expect(second).toEqual({ id: second.id, ids: [second.id], last_used: first.id })
    expect(openPlace(folder)).toEqual(second)
    expect(moveHere(folder)).toEqual({ id: second.id, ids: [second.id, first.id], last_used: null })
    expect(openPlace(folder).ids).toEqual([second.id, first.id])
  })

  test("keeps all places it was moved from, and moved back it is the first again", () => {
    const first = openPlace(folder)
    const id = readFileSync(file("place-id"), "utf8")
    onAnotherMachine(1)
    const second = moveHere(folder)
    onAnotherMachine(2)
    const third = moveHere(folder)
    expect(third.ids).toEqual([third.id, second.id, first.id])
    writeFileSync(file("place-id"), id)
    expect(moveHere(folder).ids).toEqual([first.id, third.id, second.id])
  })

  test("of a copy has nothing of what the original took with it", () => {
    openPlace(folder)
    onAnotherMachine(1)
    const original = moveHere(folder)
    const copy = `${folder}-copy`
    try {
      cpSync(folder, copy, { recursive: true })
      writeFileSync(join(copy, "place-id"), "2".repeat(32))
      const { id, ids, last_used } = openPlace(copy)
      expect({ ids, last_used }).toEqual({ ids: [id], last_used: original.id })
    } finally {
      rmSync(copy, { recursive: true })
    }
  })

  test.each([
    ["place-id", ""],
    ["places.json", "{"],
  ])("with a damaged %s is refused by name; a folder with its database inside goes on", (name, content) => {
    openPlace(folder)
    writeFileSync(file(name), content)
    expect(() => openPlace(folder)).toThrow(file(name))
    const again = openOnlyPlace(folder)
    expect(openPlace(folder)).toEqual(again)
    expect(existsSync(file(`place-id.${process.pid}`))).toBe(false)
  })
})
