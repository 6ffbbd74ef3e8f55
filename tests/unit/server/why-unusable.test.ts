import { expect, test } from "vitest"
import { whyUnusable } from "../../../server/platform/why-unusable"

const coded = (code: string) => Object.assign(new Error("as the driver says it"), { code })
const sqlite = { database: { kind: "sqlite", file: "/disk/rewake.db" }, data_dir: "/data" } as const
const postgres = { database: { kind: "postgresql", url: "postgresql://app:password@db:5432/rewake" }, data_dir: "/data" } as const

test.each([
  ["SQLITE_FULL", sqlite, /disk of \/data or \/disk is full.*kept.*Free some space/],
  ["ENOSPC", postgres, /disk of \/data is full/],
  ["53100", postgres, /PostgreSQL's disk is full/],
  ["SQLITE_NOTADB", sqlite, /\/disk\/rewake.db is damaged.\n.*npm run doctor.*npm run backup -- --restore FILE/],
  ["SQLITE_CANTOPEN", sqlite, /\/disk\/rewake.db cannot be used \(SQLITE_CANTOPEN\)/],
  ["XX001", postgres, /its data is damaged/],
  ["ECONNREFUSED", postgres, /PostgreSQL at db:5432 does not answer \(ECONNREFUSED\)/],
  ["28P01", postgres, /refuses the user or the password/],
  ["3D000", postgres, /no database of the name/],
] as const)("%s is told in words, without a password", (code, where, sentence) => {
  const why = whyUnusable(coded(code), where)
  expect(why).toMatch(sentence)
  expect(why).not.toContain("app:password")
})

test("any other error keeps its stack", () => {
  expect(whyUnusable(new TypeError("x is undefined"), sqlite)).toBeNull()
  expect(whyUnusable(coded("28P01"), sqlite)).toBeNull()
})
