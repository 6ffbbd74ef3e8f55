import { expect, test } from "vitest"
import { createPasswords } from "../../../server/auth"

test("a flood of guesses is refused beyond a line of 64, and a known device goes to its head", async () => {
  const passwords = createPasswords()
  const stored = await passwords.hash("the right password")
  const order: string[] = []
  const guesses = Array.from({ length: 66 }, (_, i) => passwords.matches(stored, `guess ${i}`).then(() => order.push("guess")))
  await expect(passwords.matches(stored, "one guess more")).rejects.toMatchObject({ code: "RATE_LIMITED" })
  const known = passwords.matches(stored, "the right password", { first: true }).then((right) => {
    order.push("known")
    return right
  })
  expect(await known).toBe(true)
  await Promise.all(guesses)
  // Two were at work already, and at most one more of each could end before it.
  expect(order.indexOf("known")).toBeLessThanOrEqual(3)
  expect(order).toHaveLength(67)
})

test("nothing matches an account without a password", async () => {
  const passwords = createPasswords()
  expect(await passwords.matches(null, "nobody has this password")).toBe(false)
})
