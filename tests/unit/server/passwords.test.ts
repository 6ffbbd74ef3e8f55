import { expect, test } from "vitest"
import { createPasswords } from "../../../server/auth"

/** Comparisons that begin when their turn comes and end when the test says so: which one begins is then no matter of speed. */
function comparisons() {
  const begun: { password: string; end: () => void }[] = []
  const passwords = createPasswords({
    hash: async (password) => `hash of ${String(password)}`,
    verify: (stored, password) =>
      new Promise((resolve) =>
        begun.push({ password: String(password), end: () => resolve(String(stored) === `hash of ${String(password)}`) }),
      ),
  })
  return { begun, passwords }
}
/** Whatever follows from an ended comparison has happened by the next turn of the event loop. */
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

test("two passwords are compared at a time, a line of 64 waits, and what is beyond it is refused", async () => {
  const { begun, passwords } = comparisons()
  const guesses = Array.from({ length: 66 }, (_, i) => passwords.matches("hash of x", `guess ${i}`))
  await expect(passwords.matches("hash of x", "one guess more")).rejects.toMatchObject({ code: "RATE_LIMITED" })
  expect(begun.map(({ password }) => password)).toEqual(["guess 0", "guess 1"])
  for (let i = 0; i < 66; i++) {
    expect(begun.length).toBe(Math.min(i + 2, 66))
    begun[i]?.end()
    await nextTurn()
  }
  expect(await Promise.all(guesses)).toEqual(guesses.map(() => false))
})

test("a known device goes to the head of the line, however long it is", async () => {
  const { begun, passwords } = comparisons()
  const guesses = Array.from({ length: 66 }, (_, i) => passwords.matches("hash of x", `guess ${i}`))
  const known = passwords.matches("hash of the right password", "the right password", { first: true })
  begun[1]?.end()
  await nextTurn()
  expect(begun.at(-1)?.password).toBe("the right password")
  begun.at(-1)?.end()
  expect(await known).toBe(true)
  for (let i = 0; i < begun.length; i++) {
    begun[i]?.end()
    await nextTurn()
  }
  await Promise.all(guesses)
})

test("argon2id tells the right password from a wrong one, and nothing matches an account without one", async () => {
  const passwords = createPasswords()
  const stored = await passwords.hash("the right password")
  expect(stored).toMatch(/^\$argon2id\$/)
  expect(await passwords.matches(stored, "the right password")).toBe(true)
  expect(await passwords.matches(stored, "a wrong password")).toBe(false)
  expect(await passwords.matches(null, "nobody has this password")).toBe(false)
})
