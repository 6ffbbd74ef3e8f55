import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { requireRepository } from "../../../server/sessions/workspaces"

let base: string
let roots: string[]
const at = (...parts: string[]) => join(base, ...parts)
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "rewake-roots-")))
  for (const folder of ["root/repo/.git", "root/bare/objects", "root/plain", "outside/repo/.git", "root-twin/repo/.git"]) {
    mkdirSync(at(folder), { recursive: true })
  }
  writeFileSync(at("root/bare/HEAD"), "ref: refs/heads/main\n")
  writeFileSync(at("root/file"), "")
  symlinkSync(at("outside/repo"), at("root/way-out"))
  symlinkSync(at("root/repo"), at("root/way-in"))
  symlinkSync(at("root/nowhere"), at("root/dangling"))
  symlinkSync(at("root"), at("linked-root"))
  roots = [at("root")]
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

test("a repository under a root is taken by its real path, a bare one and one behind a link inside as well", () => {
  expect(requireRepository(at("root/repo"), roots)).toBe(at("root/repo"))
  expect(requireRepository(at("root/bare"), roots)).toBe(at("root/bare"))
  expect(requireRepository(at("root/way-in"), roots)).toBe(at("root/repo"))
  expect(requireRepository(at("root/plain/../repo"), roots)).toBe(at("root/repo"))
  expect(requireRepository(at("root/repo"), [at("linked-root")])).toBe(at("root/repo"))
  expect(requireRepository(`file://${at("root/repo")}`, roots)).toBe(at("root/repo"))
})

test.each([
  ["a folder outside", "outside/repo"],
  ["a folder whose name begins like a root's", "root-twin/repo"],
  ["a link that leads out", "root/way-out"],
  ["a path that climbs out", "root/../outside/repo"],
  ["something outside that does not exist", "outside/nothing"],
])("%s is not allowed", (_, path) => {
  expect(() => requireRepository(at(path), roots)).toThrow(expect.objectContaining({ code: "WORKSPACE_NOT_ALLOWED" }))
  expect(() => requireRepository(`file://${at(path)}`, roots)).toThrow(expect.objectContaining({ code: "WORKSPACE_NOT_ALLOWED" }))
})

test("a file address is no way around the roots, however it is written", () => {
  const escaped = `file://${at("outside/repo").replace("outside", "%6futside")}`
  for (const url of [escaped, `file://localhost${at("outside/repo")}`, `FILE://${at("outside/repo")}`, `file:${at("outside/repo")}`]) {
    expect(() => requireRepository(url, roots)).toThrow(expect.objectContaining({ code: expect.stringMatching(/^WORKSPACE_NOT_/) }))
  }
})

test.each([
  ["a missing folder", "root/nothing"],
  ["a file", "root/file"],
  ["a folder that is no repository", "root/plain"],
  ["a dangling link", "root/dangling"],
])("%s is not found", (_, path) => {
  expect(() => requireRepository(at(path), roots)).toThrow(expect.objectContaining({ code: "WORKSPACE_NOT_FOUND" }))
})

test("a relative path is refused: it would be read against a folder nobody named", () => {
  for (const path of ["repo", "./root/repo", "~/repo", ""]) {
    expect(() => requireRepository(path, roots)).toThrow(expect.objectContaining({ code: "WORKSPACE_NOT_FOUND" }))
  }
})

test("git addresses are passed on as they are", () => {
  for (const url of ["https://example.org/a/b.git", "ssh://git@example.org/a/b.git", "git@example.org:a/b.git"]) {
    expect(requireRepository(url, roots)).toBe(url)
  }
})

test("a URL with a password is refused with what to do instead, and is not repeated", () => {
  for (const url of ["https://planted-token@example.org/a.git", "https://u:planted@example.org/a.git", "ssh://git:planted@example.org/a"]) {
    const refusal = (() => {
      try {
        return requireRepository(url, roots)
      } catch (error) {
        return error
      }
    })()
    expect(refusal).toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining("under Settings, Git credentials") })
    expect(JSON.stringify(refusal)).not.toContain("planted")
  }
})

test("what git would run as a command, or read as an option, is no address", () => {
  for (const url of ["ext::sh -c 'touch /tmp/x'", "--upload-pack=touch /tmp/x", "-u", "ssh://-oProxyCommand=touch/x", "-x@example.org:a"]) {
    expect(() => requireRepository(url, roots)).toThrow()
  }
})
