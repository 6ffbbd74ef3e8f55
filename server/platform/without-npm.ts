import { delimiter, dirname, join } from "node:path"

type Environment = Readonly<Record<string, string | undefined>>

/** Set by npm whatever they were before. */
const NPM_SETS = ["INIT_CWD", "NODE", "COLOR"]
/** What npm takes for an editor when the user has named none. */
const NPM_EDITOR = "vi"

/**
 * The environment as it was before `npm start`. npm puts the programs of our own packages first on PATH: with it, `tsc` in a user's
 * terminal would be ours.
 */
export function withoutNpm(env: Environment): Record<string, string> {
  const entries = Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined && !pair[0].startsWith("npm_"))
  const kept = Object.fromEntries(entries)
  if (env.npm_execpath === undefined) return kept
  for (const name of NPM_SETS) delete kept[name]
  // Named by the user it is another one, or named twice: git and others look at VISUAL first, and use vi where nothing is named.
  if ([NPM_EDITOR, env.VISUAL, env.npm_config_editor].includes(kept.EDITOR)) delete kept.EDITOR
  if (kept.PATH !== undefined) kept.PATH = pathBeforeNpm(kept.PATH, env.npm_package_json)
  return kept
}

/** npm puts `node_modules/.bin` of the project's folder and of each folder above it in front, then a folder of its own. */
function pathBeforeNpm(path: string, packageFile: string | undefined): string {
  const added = packageFile === undefined ? [] : foldersUpFrom(dirname(packageFile)).map((folder) => join(folder, "node_modules", ".bin"))
  const parts = path.split(delimiter)
  const first = parts.findIndex((part) => !added.includes(part))
  if (first === -1) return ""
  return parts.slice(parts[first]?.endsWith("/node-gyp-bin") ? first + 1 : first).join(delimiter)
}

function foldersUpFrom(folder: string): string[] {
  const above = dirname(folder)
  return above === folder ? [folder] : [folder, ...foldersUpFrom(above)]
}
