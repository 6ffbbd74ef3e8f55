const TOP_FOLDERS = ["app", "components", "lib", "server", "prisma", "scripts", "tests", "public", "docs", ".ci"]

/** The project's paths that a Markdown text names in backticks. A pattern counts as the folder it is in. */
export function pathsNamedIn(markdown: string): string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```/gm, "")
  const words = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, word]) => word ?? "")
  return words.filter(isPath).flatMap(alternatives).map(withoutPattern)
}

function isPath(word: string): boolean {
  if (/[\s<>:"$]/.test(word)) return false
  const inFolder = TOP_FOLDERS.some((folder) => word === `${folder}/` || word.startsWith(`${folder}/`))
  return inFolder || /^[\w.-]+\.(md|mjs|json|ts)$/.test(word)
}

function alternatives(path: string): string[] {
  const [whole, inside] = path.match(/\{([^}]*)\}/) ?? []
  if (whole === undefined || inside === undefined) return [path]
  return inside.split(",").flatMap((choice) => alternatives(path.replace(whole, choice.trim())))
}

function withoutPattern(path: string): string {
  const star = path.search(/[*…]/)
  return star === -1 ? path : path.slice(0, path.lastIndexOf("/", star) + 1)
}
