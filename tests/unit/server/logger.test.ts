import { Writable } from "node:stream"
import { expect, test } from "vitest"
import { createLogger } from "../../../server/platform/logger"

const NAMES = ["password", "secret", "token", "authorization", "cookie", "content", "message_text", "env", "code"]

function logged(write: (logger: ReturnType<typeof createLogger>) => void): string {
  let text = ""
  const destination = new Writable({
    write(chunk, _, done) {
      text += chunk
      done()
    },
  })
  write(createLogger("debug", destination))
  return text
}
const planted = (name: string, where: string) => `planted-${name}-${where}`

test.each(NAMES)("a %s is cut wherever it lies in what is logged", (name) => {
  const text = logged((logger) => {
    logger.info({ [name]: planted(name, "top"), session: "sess_1" }, "one")
    logger.info({ request: { [name]: planted(name, "one") } }, "two")
    logger.info({ request: { headers: { [name]: planted(name, "two") } } }, "three")
    logger.info({ a: { b: { c: { [name]: planted(name, "three") } } } }, "four")
    logger.info({ list: [{ [name]: planted(name, "list") }] }, "five")
    logger.error({ err: Object.assign(new Error("failed"), { [name]: planted(name, "error") }) }, "six")
    logger.error({ err: Object.assign(new Error("failed"), { response: { [name]: planted(name, "deep in an error") } }) }, "seven")
    logger.child({ [name]: planted(name, "child") }).info("eight")
  })
  expect(text.trim().split("\n")).toHaveLength(8)
  expect(text).not.toContain("planted")
  expect(text).toContain("sess_1")
})

test("what is no secret is told in full, with its error's stack", () => {
  const text = logged((logger) => logger.warn({ session: "sess_1", reason: "unreachable", err: new Error("no answer") }, "could not"))
  const line = JSON.parse(text)
  expect(line).toMatchObject({ session: "sess_1", reason: "unreachable", msg: "could not", err: { message: "no answer" } })
  expect(line.err.stack).toContain("logger.test.ts")
})
