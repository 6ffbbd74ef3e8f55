import type { HighlighterCore, ThemedToken } from "shiki/core"

/** Languages are fetched when a closed code block first names them; an unknown one stays plain. */
type Loader = () => Promise<{ default: unknown }>
const languages: Record<string, Loader> = {
  bash: () => import("shiki/langs/bash.mjs"),
  c: () => import("shiki/langs/c.mjs"),
  cpp: () => import("shiki/langs/cpp.mjs"),
  csharp: () => import("shiki/langs/csharp.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
  docker: () => import("shiki/langs/docker.mjs"),
  elixir: () => import("shiki/langs/elixir.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  graphql: () => import("shiki/langs/graphql.mjs"),
  haskell: () => import("shiki/langs/haskell.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  ini: () => import("shiki/langs/ini.mjs"),
  java: () => import("shiki/langs/java.mjs"),
  javascript: () => import("shiki/langs/javascript.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  jsonc: () => import("shiki/langs/jsonc.mjs"),
  jsx: () => import("shiki/langs/jsx.mjs"),
  kotlin: () => import("shiki/langs/kotlin.mjs"),
  lua: () => import("shiki/langs/lua.mjs"),
  make: () => import("shiki/langs/make.mjs"),
  markdown: () => import("shiki/langs/markdown.mjs"),
  nix: () => import("shiki/langs/nix.mjs"),
  php: () => import("shiki/langs/php.mjs"),
  powershell: () => import("shiki/langs/powershell.mjs"),
  prisma: () => import("shiki/langs/prisma.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  ruby: () => import("shiki/langs/ruby.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  scala: () => import("shiki/langs/scala.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  svelte: () => import("shiki/langs/svelte.mjs"),
  swift: () => import("shiki/langs/swift.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  tsx: () => import("shiki/langs/tsx.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"),
  vue: () => import("shiki/langs/vue.mjs"),
  xml: () => import("shiki/langs/xml.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
  zig: () => import("shiki/langs/zig.mjs"),
}
const aliases: Record<string, string> = {
  cjs: "javascript",
  console: "bash",
  cs: "csharp",
  dockerfile: "docker",
  golang: "go",
  gql: "graphql",
  h: "c",
  hpp: "cpp",
  htm: "html",
  js: "javascript",
  kt: "kotlin",
  makefile: "make",
  md: "markdown",
  mjs: "javascript",
  patch: "diff",
  ps1: "powershell",
  py: "python",
  rb: "ruby",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  ts: "typescript",
  yml: "yaml",
  zsh: "bash",
}
/** A longer block is shown plain: tokenising it would freeze the page. */
const MAX_HIGHLIGHTED = 60_000

let core: Promise<HighlighterCore> | null = null
const loaded = new Map<string, Promise<unknown>>()

async function openCore(): Promise<HighlighterCore> {
  const [{ createHighlighterCore }, { createJavaScriptRegexEngine }, light, dark] = await Promise.all([
    import("shiki/core"),
    // The wasm engine would need 'wasm-unsafe-eval' in the content security policy.
    import("shiki/engine/javascript"),
    import("shiki/themes/github-light-default.mjs"),
    import("shiki/themes/github-dark-default.mjs"),
  ])
  return createHighlighterCore({
    themes: [light.default, dark.default],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  })
}

export type HighlightedLines = readonly (readonly ThemedToken[])[]

export async function highlight(code: string, language: string): Promise<HighlightedLines | null> {
  const name = aliases[language] ?? language
  const load = languages[name]
  if (!load || code.length > MAX_HIGHLIGHTED) return null
  core ??= openCore()
  const highlighter = await core
  if (!loaded.has(name)) {
    loaded.set(
      name,
      load().then((module) => highlighter.loadLanguage(module.default as Parameters<HighlighterCore["loadLanguage"]>[0])),
    )
  }
  await loaded.get(name)
  return highlighter.codeToTokens(code, {
    lang: name,
    themes: { light: "github-light-default", dark: "github-dark-default" },
    defaultColor: false,
  }).tokens
}
