import ts from "typescript"
import { expect, test } from "vitest"
import { type SourceFile, sourceFiles } from "./source-files"

/**
 * A list in a query becomes its parameters, and both databases refuse too many of them: a list that grows with the number of
 * sessions works until an installation has a thousand. Filter in SQL, or look the ids up in portions (`inPortions`).
 */
const BOUNDED: Record<string, string> = {
  "server/admin/archives.ts: [...archives, ...due.map(({ session }) => session)].map((row) => row.task_id)": "500 archives and 200 expired",
  "server/admin/archives.ts: tasks.map((row) => row.owner_id)": "of those tasks",
  "server/admin/system-status.ts: page.map((row) => row.task_id)": "a page of 200",
  "server/admin/system-status.ts: page.map((row) => row.user_id)": "a page of 200",
  "server/admin/system-status.ts: page.map((row) => row.id)": "a page of 200",
  "server/attachments/take.ts: ids": "the attachments of one message",
  "server/reaper/find-expired.ts: ids": "200 in a round",
  "server/sessions/views.ts: page.map((task) => task.id)": "a page of 100",
  "server/workspace/comments.ts: drafts.map(({ id }) => id)": "200 drafts of one session",
}

/** Lists given to `in` and `notIn` of queries and conditions, other than literals, constants and portions. */
function growingLists({ path, text }: SourceFile): string[] {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found: string[] = []
  const visit = (node: ts.Node) => {
    if (ts.isPropertyAssignment(node) && /^(in|notIn)$/.test(node.name.getText()) && !isFixed(node.initializer))
      found.push(`${path}: ${node.initializer.getText()}`)
    if (ts.isShorthandPropertyAssignment(node) && /^(in|notIn)$/.test(node.name.text)) found.push(`${path}: ${node.name.text}`)
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

function isFixed(list: ts.Expression): boolean {
  if (ts.isArrayLiteralExpression(list)) return !list.elements.some(ts.isSpreadElement)
  if (!ts.isIdentifier(list)) return false
  return /^[A-Z][A-Z_]*$/.test(list.text) || isPortion(list)
}

/** The parameter of a function that is given to `inPortions`. */
function isPortion(list: ts.Identifier): boolean {
  for (let node: ts.Node = list; node.parent; node = node.parent) {
    const { parent } = node
    if (ts.isArrowFunction(node) && ts.isCallExpression(parent) && parent.expression.getText() === "inPortions")
      return node.parameters[0]?.name.getText() === list.text
  }
  return false
}

const serverFiles = sourceFiles(["server"]).filter(({ path }) => path !== "server/http/openapi.ts")

test("no list in a query grows with the number of sessions", () => {
  const found = [...new Set(serverFiles.flatMap(growingLists))].sort()
  expect(found).toEqual(Object.keys(BOUNDED).sort())
})
