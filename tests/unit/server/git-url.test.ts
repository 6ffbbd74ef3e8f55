import { expect, test } from "vitest"
import { holdsCredentials, withoutCredentials, withoutUserInfo } from "../../../lib/host/git-url"

test.each([
  "https://user:password@example.org/a.git",
  "https://ghp_token@example.org/a.git",
  "http://user:pass@word@example.org/a.git",
  "HTTPS://token@example.org/a.git",
  "https://token@example.org",
  "https://token@example.org?x",
  "https://@example.org/a.git",
  "git://user@example.org/a.git",
  "ssh://git:password@example.org/a.git",
  "ssh://git%3Apassword@example.org/a.git",
])("%s holds credentials", (url) => {
  expect(holdsCredentials(url)).toBe(true)
  expect(withoutCredentials(url)).toMatch(/^[a-z]+:\/\/example\.org/i)
})

test.each([
  "https://example.org/a.git",
  "https://example.org/@scope/a.git",
  "https://example.org/a.git?mail=a@b",
  "ssh://git@example.org/a.git",
  "ssh://git@example.org:2222/a.git",
  "git@example.org:a/b.git",
  "/home/x/http://a@b",
  "/srv/repositories/a.git",
])("%s holds none", (url) => {
  expect(holdsCredentials(url)).toBe(false)
  expect(withoutCredentials(url)).toBe(url)
})

test("user info is cut from a sentence, wherever it stands", () => {
  expect(withoutUserInfo("fatal: unable to access 'https://u:p@ss@example.org/a.git/': no")).toBe(
    "fatal: unable to access 'https://example.org/a.git/': no",
  )
})
