import { expect, test } from "vitest"
import { gitFailure } from "@/server/agentctl/git-failure"

test("a failed git command is told without git's own words; those are kept for the log", () => {
  const said = "fatal: '/w/tie' is a missing but locked worktree;\nhint: use 'add -f -f' to override, or 'unlock' and 'prune' to clear"
  const failure = gitFailure(["-c", "x.y=z", "worktree", "add", "-q", "/w/tie"], 128, said)
  expect(failure).toMatchObject({ code: "WORKSPACE_FAILED", said })
  expect(failure.message).toBe("git worktree add failed (exit code 128). The log of agentctl has what git said.")
})

test("known reasons have a sentence; a full disk has its own code; a URL's password is in none of the texts", () => {
  const reasonOf = (stderr: string) => gitFailure(["fetch", "origin"], 128, stderr)
  expect(reasonOf("fatal: unable to access 'https://u:secret@h/': Could not resolve host: h").message).toContain("cannot be reached")
  expect(reasonOf("fatal: unable to access 'https://u:secret@h/': Could not resolve host: h").said).not.toContain("secret")
  expect(reasonOf("error: Unable to create '/r/.git/index.lock': File exists.").message).toContain('"/r/.git/index.lock"')
  expect(reasonOf("fatal: write error: No space left on device").code).toBe("DISK_FULL")
})
