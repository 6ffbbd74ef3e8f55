import { describe, expect, test } from "vitest"
import { addressOf } from "../../../server/executors/agentctl-client"

describe("an address of agentctl", () => {
  test("every segment and value of the query is encoded", () => {
    const path = ["sessions", "sess_1", "attachments", "../ptys/wrk_1?x="]
    expect(addressOf({ path, query: { name: "a&b=c d", of: undefined, n: 3 } })).toBe(
      "/sessions/sess_1/attachments/..%2Fptys%2Fwrk_1%3Fx%3D?name=a%26b%3Dc+d&n=3",
    )
    expect(new URL(addressOf({ path }), "http://agentctl").pathname.split("/")).toHaveLength(5)
  })

  test.each(["", ".", ".."])("a segment %j is refused: a URL would resolve it", (segment) => {
    expect(() => addressOf({ path: ["sessions", "sess_1", "attachments", segment] })).toThrow("not a segment")
  })
})
