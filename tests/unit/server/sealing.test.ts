import { describe, expect, test } from "vitest"
import { createSealing } from "../../../server/platform/sealing"

const sealingOf = (...secrets: [string, ...string[]]) => createSealing(secrets, "tests")
const place = ["codex", "OPENAI_API_KEY"]

describe("sealed values", () => {
  test("open with their secret, in their place and for their purpose only", () => {
    const sealed = sealingOf("old").seal(place, "value")
    expect(sealingOf("old").open(place, sealed)).toBe("value")
    expect(() => sealingOf("new").open(place, sealed)).toThrow()
    expect(() => sealingOf("old").open(["codex", "ANOTHER"], sealed)).toThrow()
    expect(() => createSealing(["old"], "another purpose").open(place, sealed)).toThrow()
    expect(() => sealingOf("old").open(place, "nonsense")).toThrow()
  })
  test("open with any of several secrets, and are sealed with the first", () => {
    const sealed = sealingOf("old").seal(place, "value")
    const both = sealingOf("new", "old")
    expect(both.open(place, sealed)).toBe("value")
    expect(sealingOf("new").open(place, both.seal(place, "value"))).toBe("value")
  })
  test("are sealed again only when an older secret sealed them", () => {
    const both = sealingOf("new", "old")
    const reseal = (sealed: string) =>
      both.reseal(
        [{ sealed }],
        () => place,
        (_, anew) => anew,
      )
    const [anew = "", ...more] = reseal(sealingOf("old").seal(place, "value"))
    expect(more).toEqual([])
    expect(sealingOf("new").open(place, anew)).toBe("value")
    expect(reseal(anew)).toEqual([])
    expect(reseal(sealingOf("lost").seal(place, "value"))).toEqual([])
  })
})
