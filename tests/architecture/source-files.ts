import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..")
export const PRODUCT_FOLDERS = ["app", "components", "lib", "server"]

export type SourceFile = { path: string; text: string }

/** Every source file under these folders, by its path from the project's root. */
export function sourceFiles(folders: readonly string[], pattern = /\.(ts|tsx|css)$/): SourceFile[] {
  return folders
    .flatMap((folder) => filesUnder(folder))
    .filter((path) => pattern.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
}

function filesUnder(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? filesUnder(path) : [path]
  })
}

export type Imports = { ours: string[]; packages: string[] }

/** What a file imports, exports from, or loads at run time; ours resolved against the files that exist. */
export function importsOf(file: SourceFile, exists: (path: string) => boolean): Imports {
  const specifiers = ts.preProcessFile(file.text, true, true).importedFiles.map(({ fileName }) => fileName)
  const imports: Imports = { ours: [], packages: [] }
  for (const specifier of specifiers) {
    if (specifier.startsWith("@/")) imports.ours.push(resolve(specifier.slice(2), exists))
    else if (specifier.startsWith(".")) imports.ours.push(resolve(normalize(join(dirname(file.path), specifier)), exists))
    else imports.packages.push(packageName(specifier))
  }
  return imports
}

function resolve(path: string, exists: (path: string) => boolean): string {
  return [path, `${path}.ts`, `${path}.tsx`, `${path}/index.ts`].find((candidate) => /\.\w+$/.test(candidate) && exists(candidate)) ?? path
}

function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")
}

/** Does the code (not a comment, not a string) read the process's environment? */
export function readsEnvironment(file: SourceFile): boolean {
  const tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, false, scriptKind(file.path))
  let found = false
  const visit = (node: ts.Node) => {
    if (ts.isPropertyAccessExpression(node) && node.name.text === "env" && ts.isIdentifier(node.expression)) {
      found ||= node.expression.text === "process"
    }
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) found ||= node.moduleSpecifier.text === "node:process"
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

const scriptKind = (path: string) => (path.endsWith(".tsx") ? ts.ScriptKind.TSX : ts.ScriptKind.TS)
