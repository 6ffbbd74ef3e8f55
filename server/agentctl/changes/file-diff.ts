import { readlink } from "node:fs/promises"
import { type DiffOf, type FileDiff, MAX_DIFF_BYTES } from "../../../lib/contracts/workspace"
import { Failure } from "../failure"
import { below, componentsOf, openFile, openNamed, withFolder } from "../workspace-files/inside"
import { isBinary, PLAIN } from "./read-changes"
import type { Repository } from "./repository"

/** The change of one file as unified text. Both paths of a renamed one are needed, or it would look like a new file. */
export async function readFileDiff(repository: Repository, path: string, oldPath: string | null, of: DiffOf): Promise<FileDiff> {
  const { stdout, bytes } = of === "untracked" ? await newFile(repository.root, path) : await compare(repository, path, oldPath, of)
  const whole = bytes <= MAX_DIFF_BYTES
  return { path, of, diff: whole ? stdout.toString("utf8") : null, bytes, limit_bytes: MAX_DIFF_BYTES }
}

async function compare({ read, head, emptyTree }: Repository, path: string, oldPath: string | null, of: DiffOf) {
  const paths = [oldPath, path].filter((name) => name !== null)
  for (const name of paths) componentsOf(name)
  const text = ["-p", ...PLAIN, "--abbrev=16", "--src-prefix=a/", "--dst-prefix=b/"]
  const pipe = { keep: MAX_DIFF_BYTES + 1 }
  if (of === "staged") return read(["diff", "--cached", ...text, head ?? emptyTree, "--", ...paths], pipe)
  // Of a conflict: what this side had, against what is in the work tree.
  if (of === "unstaged") return read(["diff", "--ours", ...text, "--", ...paths], pipe)
  const parents = await read(["rev-list", "--parents", "-n", "1", "--end-of-options", of], { accept: [128, 129] })
  const [id, parent] = parents.stdout.toString("utf8").trim().split(" ")
  if (!id) throw new Failure("PATH_MISSING", "There is no such commit.")
  return read(["diff-tree", ...text, parent ?? emptyTree, id, "--", ...paths], pipe)
}

/** git compares files outside its index only by name; this one is opened like every other file of the workspace. */
async function newFile(root: string, path: string): Promise<{ stdout: Buffer; bytes: number }> {
  // A repository of its own, which git lists as a folder.
  if (path.endsWith("/")) return { stdout: Buffer.alloc(0), bytes: 0 }
  const target = await linkTarget(root, path)
  if (target !== null) return asDiff(path, Buffer.from(target), "120000")
  const { file, info } = await openFile(root, path)
  try {
    if (info.size > BigInt(MAX_DIFF_BYTES)) return { stdout: Buffer.alloc(0), bytes: Number(info.size) }
    return asDiff(path, await file.readFile(), info.mode & 0o111n ? "100755" : "100644")
  } finally {
    await file.close()
  }
}

async function linkTarget(root: string, path: string): Promise<string | null> {
  const components = componentsOf(path)
  const name = components.pop() ?? ""
  return withFolder(root, components, async (folder) => {
    const named = await openNamed(folder, name)
    const isLink = (await named.stat()).isSymbolicLink()
    await named.close()
    return isLink ? readlink(below(folder, name)) : null
  })
}

function asDiff(path: string, content: Buffer, mode: string): { stdout: Buffer; bytes: number } {
  const head = `diff --git a/${path} b/${path}\nnew file mode ${mode}\n`
  if (isBinary(content)) return sized(`${head}Binary files /dev/null and b/${path} differ\n`)
  if (content.length === 0) return sized(head)
  const text = content.toString("utf8")
  const lines = (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n")
  const end = text.endsWith("\n") ? "" : "\n\\ No newline at end of file"
  return sized(`${head}--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}`).join("\n")}${end}\n`)
}

function sized(text: string): { stdout: Buffer; bytes: number } {
  const stdout = Buffer.from(text)
  return { stdout, bytes: stdout.length }
}
