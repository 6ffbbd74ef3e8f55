import { expect, test } from "vitest"
import { PRODUCT_FOLDERS, sourceFiles } from "./source-files"

const LONGEST_FILE = 400
const UNFINISHED = new RegExp(`\\b(${["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"].join("|")})\\b`)

const files = sourceFiles([...PRODUCT_FOLDERS, "scripts", "tests"], /\.(ts|tsx|mts|mjs|css)$/)

test(`no file is longer than ${LONGEST_FILE} lines`, () => {
  const long = sourceFiles(PRODUCT_FOLDERS).filter(({ text }) => text.trimEnd().split("\n").length > LONGEST_FILE)
  expect(long.map(({ path }) => path)).toEqual([])
})

test("no file says that it is unfinished", () => {
  const unfinished = files.flatMap(({ path, text }) =>
    text.split("\n").flatMap((line, at) => (UNFINISHED.test(line) ? [`${path}:${at + 1}`] : [])),
  )
  expect(unfinished).toEqual([])
})

test("no test is left out", () => {
  const skipping = /\b(?:test|it|describe)\.(?:skip|todo|only|fixme)\b/
  const tests = files.filter(({ path }) => path.startsWith("tests/") && !path.startsWith("tests/architecture/"))
  expect(tests.filter(({ text }) => skipping.test(text)).map(({ path }) => path)).toEqual([])
})
