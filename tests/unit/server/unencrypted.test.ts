import { expect, test } from "vitest"
import { isUnencrypted } from "../../../server/platform/unencrypted"

test.each([
  ["127.0.0.1", "http://127.0.0.1:3000", false],
  ["localhost", "http://localhost:3000", false],
  ["::1", "http://[::1]:3000", false],
  ["127.0.0.1", "https://rewake.example", false],
  ["0.0.0.0", "https://rewake.example", false],
  ["0.0.0.0", "http://0.0.0.0:3000", true],
  ["192.168.1.2", "http://192.168.1.2:3000", true],
  ["::", "http://[::]:3000", true],
  ["0.0.0.0", "http://localhost:3000", true],
  ["127.0.0.1", "http://rewake.example", true],
  ["127.0.0.1.example.org", "http://127.0.0.1:3000", true],
])("listening on %s as %s: unencrypted %s", (host, publicUrl, expected) => {
  expect(isUnencrypted(host, publicUrl)).toBe(expected)
})
