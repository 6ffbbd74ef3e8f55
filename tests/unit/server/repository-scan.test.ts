import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createRepositoryScan, type FoundRepository, SCAN_LIMITS, scanRoots } from "../../../server/sessions/repository-scan"

describe("the scan for repositories", () => {
  let root: string
  const names = (found: readonly FoundRepository[]) => found.map(({ path }) => path.slice(root.length + 1))
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "rewake-scan-"))
    const repositories = ["b", "a", "x/c", "x/y/d", "x/y/z/too-deep", "node_modules/e", ".hidden/f", "a/inner"]
    for (const name of repositories) mkdirSync(join(root, name, ".git"), { recursive: true })
    symlinkSync(join(root, "x"), join(root, "linked"))
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  test("finds the nearest first, and looks neither too deep nor behind links, packages and hidden folders", async () => {
    expect(names(await scanRoots([root]))).toEqual(["a", "b", "x/c", "x/y/d"])
    expect(await scanRoots([join(root, "missing")])).toEqual([])
  })
  test("ends at each of its limits with what it has found", async () => {
    expect(names(await scanRoots([root], { ...SCAN_LIMITS, depth: 1 }))).toEqual(["a", "b"])
    expect(names(await scanRoots([root], { ...SCAN_LIMITS, folders: 2 }))).toEqual(["a"])
    expect(names(await scanRoots([root], { ...SCAN_LIMITS, repositories: 3 }))).toEqual(["a", "b", "x/c"])
    expect(await scanRoots([root], { ...SCAN_LIMITS, ms: -1 })).toEqual([])
  })
})

describe("suggestions", () => {
  test("many at once, with different words, take one scan, and it serves others for half a minute", async () => {
    let scans = 0
    let time = 0
    const finish: (() => void)[] = []
    const scan = async () => {
      scans++
      await new Promise<void>((resolve) => finish.push(resolve))
      return [
        { path: "/r/Alpha", name: "Alpha" },
        { path: "/r/beta", name: "beta" },
      ]
    }
    const find = createRepositoryScan(["/r"], { scan, now: () => time })
    const asked = Promise.all(Array.from({ length: 50 }, (_, i) => find(i % 2 ? "alpha" : "BETA")))
    finish[0]?.()
    const answers = await asked
    expect(answers[1]?.map(({ name }) => name)).toEqual(["Alpha"])
    expect(answers[0]?.map(({ name }) => name)).toEqual(["beta"])
    time = 29_999
    expect(await find("")).toHaveLength(2)
    expect(scans).toBe(1)
    time = 30_001
    const again = find("")
    finish[1]?.()
    await again
    expect(scans).toBe(2)
  })
  test("a scan that fails is told, and the next one may succeed", async () => {
    let scans = 0
    let time = 0
    const scan = async () => {
      if (++scans === 1) throw new Error("no")
      return [{ path: "/r/a", name: "a" }]
    }
    const find = createRepositoryScan(["/r"], { scan, now: () => time })
    await expect(find("")).rejects.toThrow("no")
    time = 31_000
    expect(await find("")).toHaveLength(1)
  })
})
