/** Names whose ending does not say what they are written in. */
const byName: Record<string, string> = {
  dockerfile: "docker",
  makefile: "make",
  gnumakefile: "make",
  ".bashrc": "bash",
  ".profile": "bash",
}
const byEnding: Record<string, string> = {
  cc: "cpp",
  cts: "typescript",
  cxx: "cpp",
  env: "ini",
  ex: "elixir",
  exs: "elixir",
  hh: "cpp",
  hs: "haskell",
  jsonl: "json",
  kts: "kotlin",
  mdx: "markdown",
  mts: "typescript",
  scss: "css",
  svg: "xml",
  webmanifest: "json",
}

/** The highlighter's word for what a file is written in; "" when nothing is known of it. */
export function languageOf(path: string): string {
  const name = path.split("/").at(-1)?.toLowerCase() ?? ""
  const ending = /\.([a-z0-9]+)$/.exec(name)?.[1] ?? ""
  return byName[name] ?? byEnding[ending] ?? ending
}
