import { expect, test } from "vitest"
import { safeNext } from "@/lib/client/safe-next"

test.each([
  "//evil.example",
  "/\\evil.example",
  "/\t/evil.example",
  "/\n/evil.example",
  "/\r\\evil.example",
  "\t//evil.example",
  "https://evil.example",
  "javascript:alert(1)",
  "tasks",
  "",
  null,
])("%j leads nowhere else", (next) => {
  expect(safeNext(next)).toBe("/tasks")
})

test.each(["/tasks/3", "/tasks/3/sessions/sess_1?tab=files#top", "/settings", "/.//evil.example"])("%s is a page of this site", (next) => {
  expect(safeNext(next)).toBe(next)
  expect(new URL(safeNext(next), "https://ours.example/login").origin).toBe("https://ours.example")
})
