import { describe, expect, test } from "vitest"
import { withoutNpm } from "../../../server/platform/without-npm"

const NPM_OWN = "/usr/lib/node_modules/npm/node_modules/@npmcli/run-script/lib/node-gyp-bin"
const addedPath = ["/srv/rewake/node_modules/.bin", "/srv/node_modules/.bin", "/node_modules/.bin", NPM_OWN].join(":")
const added = {
  npm_execpath: "/usr/lib/node_modules/npm/bin/npm-cli.js",
  npm_package_json: "/srv/rewake/package.json",
  npm_lifecycle_event: "start",
  npm_config_registry: "https://registry.example.org",
  ...{ INIT_CWD: "/srv/rewake", NODE: "/usr/bin/node", COLOR: "1" },
}
const user = { PATH: "/home/x/bin:/usr/bin", HOME: "/home/x", EDITOR: "emacs", VISUAL: "code --wait", LANG: "C" }

describe("the environment before npm", () => {
  test("what npm added is gone, and everything of the user's is there", () => {
    expect(withoutNpm({ ...user, ...added, PATH: `${addedPath}:${user.PATH}` })).toEqual(user)
  })
  test("folders of the user's PATH stay, also those that look like npm's", () => {
    const PATH = `/srv/rewake/node_modules/.bin:/home/x/other/node_modules/.bin:/usr/bin:${NPM_OWN}`
    expect(withoutNpm({ ...user, ...added, PATH: `${addedPath}:${PATH}` })).toEqual({ ...user, PATH })
  })
  test("an editor that npm chose is gone", () => {
    const { EDITOR, VISUAL, ...rest } = user
    expect(withoutNpm({ ...rest, ...added, EDITOR: "vi" })).toEqual(rest)
    expect(withoutNpm({ ...rest, ...added, VISUAL, EDITOR: VISUAL })).toEqual({ ...rest, VISUAL })
    expect(withoutNpm({ ...rest, ...added, npm_config_editor: "nano", EDITOR: "nano" })).toEqual(rest)
  })
  test("without npm nothing is changed", () => {
    const env = { ...user, PATH: `${addedPath}:/usr/bin`, NODE: "/opt/node", COLOR: "0", INIT_CWD: "/x", EDITOR: "vi" }
    expect(withoutNpm(env)).toEqual(env)
  })
})
