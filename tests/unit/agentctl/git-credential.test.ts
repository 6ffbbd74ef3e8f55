import { spawnSync } from "node:child_process"
import { expect, test } from "vitest"
import type { GitCredential } from "../../../lib/contracts/agentctl/protocol"
import { answerToGit } from "../../../server/agentctl/git-credential"

const secret = `odd = "se'cret" $HOME %s \\n`
const credential: GitCredential = { protocol: "https", host: "example.org", username: "some one", secret }
const URL_OF_TASK = "https://example.org/a.git"

/** What git itself makes of it when it needs a password for this protocol and host; null when nobody answers. */
function askedFor(protocol: string, host: string, url = URL_OF_TASK): string | null {
  const { args, env } = answerToGit(url, credential) ?? { args: [], env: {} }
  const result = spawnSync("git", [...args, "credential", "fill"], {
    input: `protocol=${protocol}\nhost=${host}\n\n`,
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: "/nowhere", GIT_TERMINAL_PROMPT: "0", ...env } as unknown as NodeJS.ProcessEnv,
  })
  return result.status === 0 ? result.stdout : null
}

test("git gets user name and secret as they are, for the protocol and host of the URL", () => {
  expect(askedFor("https", "example.org")).toBe(`protocol=https\nhost=example.org\nusername=some one\npassword=${secret}\n`)
})

test.each([
  ["http", "example.org"],
  ["https", "example.org:8443"],
  ["https", "example.org.evil.example"],
  ["https", "evil.example"],
])("git that is led to %s://%s gets nothing", (protocol, host) => {
  expect(askedFor(protocol, host)).toBeNull()
})

test("a host that the URL writes in its own way is still that host", () => {
  expect(askedFor("https", "Example.org:443", "https://Example.org:443/a.git")).toContain(`password=${secret}`)
})

test("a credential of another host or protocol is not used for a URL", () => {
  for (const url of ["https://elsewhere.org/a.git", "http://example.org/a.git", "ssh://git@example.org/a.git", "/srv/a.git"])
    expect(answerToGit(url, credential)).toBeNull()
})

test("no command line holds the secret", () => {
  const answer = answerToGit(URL_OF_TASK, credential)
  expect(answer?.args.join(" ")).not.toContain(secret)
})
