import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { AgentInfo } from "../../lib/contracts/agents"
import type { WorkerView } from "../../lib/contracts/workers"
import { Rewake } from "../support/server"
import { openTerminal, readySession, TERMINAL_ENV, type Viewer, view } from "../support/terminal"
import { waitUntil } from "../support/wait-until"

const THREAD = "T-7a3c2f10-1111-4222-8333-944455556666"
/** Writes down what it was started with, a line for each start, and stays until it is ended. */
const STAND_IN = `#!/bin/sh
printf '%s\\n' "$(basename "$0") $*" >> "$STAND_IN_LOG"
[ "$*" = "threads new" ] && echo "https://ampcode.com/threads/${THREAD}" && exit
echo ready
exec sleep 600
`

/** Says something to the demo agent and gives its answer. The viewer began with a snapshot: what it was sent since is new. */
async function say(viewer: Viewer, words: string): Promise<string> {
  viewer.forget()
  await viewer.type(`${words}\r`)
  const [answer] = await viewer.until(/I (will )?remember[^\r]*\r\n/)
  return answer.trim()
}
/** What is on its screen, once it is there. */
const shows = (viewer: Viewer, wanted: RegExp) =>
  waitUntil(() => wanted.test(Buffer.from(viewer.attached?.snapshot ?? []).toString("utf8") + viewer.text()), `${wanted}`)

describe("terminal agents", () => {
  let rewake: Rewake
  let sessionId: string
  let outside: string
  beforeAll(async () => {
    outside = mkdtempSync(join(tmpdir(), "rewake-stand-ins-"))
    const bin = join(outside, "bin")
    mkdirSync(bin)
    for (const name of ["amp", "auggie"]) {
      writeFileSync(join(bin, name), STAND_IN)
      chmodSync(join(bin, name), 0o755)
    }
    rewake = await Rewake.start({
      env: { ...TERMINAL_ENV, STAND_IN_LOG: join(outside, "started"), PATH: `${bin}${delimiter}${process.env.PATH}` },
    })
    sessionId = await readySession(rewake)
  })
  afterAll(async () => {
    await rewake?.stop()
    rmSync(outside, { recursive: true, force: true })
  })

  const path = (rest = "") => `/api/v1/sessions/${sessionId}/workers${rest}`
  const look = (worker: WorkerView) => view(rewake, worker, { snapshot: true })
  const openAgent = (agent: string) => openTerminal(rewake, sessionId, { type: "agent", agent })
  const fork = (worker: WorkerView) => openTerminal(rewake, sessionId, { type: "agent", fork_of: worker.id })
  const restart = (worker: WorkerView, goOn: boolean) => rewake.api("POST", path(`/${worker.id}/restart`), { continue: goOn })
  const starts = (name: string) =>
    readFileSync(join(outside, "started"), "utf8")
      .split("\n")
      .filter((line) => line.startsWith(`${name} `))
      .map((line) => line.slice(name.length + 1))

  test("two tabs have two conversations, and each comes back with its own after agentctl was killed", async () => {
    const tabs = [await openAgent("demo"), await openAgent("demo")]
    const words = ["medlar", "damson"]
    const viewers = await Promise.all(tabs.map((tab) => look(tab)))
    // The newest in the folder is the second tab's: whoever went on with the newest would find the wrong one.
    for (const [at, viewer] of viewers.entries()) await say(viewer, `remember ${words[at]}`)
    rewake.killDaemon()
    const again = await Promise.all(tabs.map((tab) => look(tab)))
    for (const [at, viewer] of again.entries()) {
      await shows(viewer, /restored \d\d:\d\d, conversation continued/)
      const answer = await say(viewer, "recall")
      expect(answer).toBe(`I remember: ${words[at]}`)
    }
  })

  test("a fork knows what was said until then; afterwards the two go their own ways, also after a kill", async () => {
    const source = await openAgent("demo")
    const viewer = await look(source)
    await say(viewer, "remember rowan")
    const copy = await fork(source)
    expect(copy).toMatchObject({ type: "agent", agent: "demo" })
    const forked = await look(copy)
    expect(await say(forked, "recall")).toBe("I remember: rowan")
    await say(forked, "remember sloe")
    await say(viewer, "remember hazel")
    rewake.killDaemon()
    expect(await say(await look(source), "recall")).toBe("I remember: rowan, hazel")
    expect(await say(await look(copy), "recall")).toBe("I remember: rowan, sloe")
  })

  test("a restart goes on or begins anew, and what it began is what comes back", async () => {
    const tab = await openAgent("demo")
    await say(await look(tab), "remember bullace")
    expect((await restart(tab, true)).status).toBe(202)
    expect(await say(await look(tab), "recall")).toBe("I remember: bullace")
    expect((await restart(tab, false)).status).toBe(202)
    const fresh = await look(tab)
    await shows(fresh, /restored \d\d:\d\d, new conversation/)
    expect(await say(fresh, "recall")).toBe("I remember nothing yet.")
    await say(fresh, "remember cornel")
    rewake.killDaemon()
    expect(await say(await look(tab), "recall")).toBe("I remember: cornel")
  })

  test("a conversation nobody ever began is begun, not asked for", async () => {
    const tab = await openAgent("demo")
    await rewake.restart()
    const viewer = await look(tab)
    expect(await say(viewer, "recall")).toBe("I remember nothing yet.")
    const lost = await openAgent("demo")
    await say(await look(lost), "remember lime")
    rmSync(join(rewake.dataDir, "demo-agent"), { recursive: true })
    rewake.killDaemon()
    const anew = await look(lost)
    // Said truthfully: it is not the old one.
    await shows(anew, /restored \d\d:\d\d, new conversation/)
    expect(await say(anew, "recall")).toBe("I remember nothing yet.")
  })

  test("an agent that cannot be told which conversation goes on with the newest, and the divider says so", async () => {
    const tab = await openAgent("auggie")
    await shows(await look(tab), /ready/)
    rewake.killDaemon()
    await shows(await look(tab), /restored \d\d:\d\d, newest conversation of this folder/)
    // The divider is shown before the program runs.
    await expect.poll(() => starts("auggie")).toEqual(["", "--continue"])
  })

  test("Amp makes a thread for each tab, continues it by its name, and forks it", async () => {
    const tab = await openAgent("amp")
    await shows(await look(tab), /ready/)
    rewake.killDaemon()
    await shows(await look(tab), /restored \d\d:\d\d, conversation continued/)
    const goOn = `threads continue ${THREAD}`
    await expect.poll(() => starts("amp")).toEqual(["threads new", goOn, goOn])
    const copy = await fork(tab)
    await shows(await look(copy), /ready/)
    expect(starts("amp")).toEqual(["threads new", goOn, goOn, `threads fork ${THREAD}`])
    rewake.killDaemon()
    // Nothing tells which thread the copy is: the newest may be another's, and the divider says no more than is known.
    await shows(await look(copy), /restored \d\d:\d\d, newest conversation of this folder/)
    await expect.poll(() => starts("amp").at(-1)).toBe("threads continue --last")
  })

  test("what cannot be forked is refused: another type, another agent, one that cannot, an unknown tab, one whose conversation is unknown", async () => {
    const shell = await openTerminal(rewake, sessionId)
    const demo = await openAgent("demo")
    const auggie = await openAgent("auggie")
    const amp = await openAgent("amp")
    const refusal = async (input: object) => (await rewake.api("POST", path(), input)).body
    expect(await refusal({ type: "agent", fork_of: shell.id })).toMatchObject({ code: "INVALID_INPUT" })
    expect(await refusal({ type: "terminal", fork_of: demo.id })).toMatchObject({ code: "INVALID_INPUT" })
    expect(await refusal({ type: "agent", agent: "amp", fork_of: demo.id })).toMatchObject({ code: "INVALID_INPUT" })
    expect(await refusal({ type: "agent", fork_of: auggie.id })).toMatchObject({ code: "AGENT_UNAVAILABLE" })
    expect(await refusal({ type: "agent", fork_of: "wrk_unknown" })).toMatchObject({ code: "NOT_FOUND" })
    expect(await refusal({ type: "agent", fork_of: amp.id })).toMatchObject({ code: "CONFLICT" })
    const { items } = (await rewake.api<{ items: AgentInfo[] }>("GET", "/api/v1/agents")).body
    expect(items.filter(({ terminal_forks }) => terminal_forks).map(({ id }) => id)).toEqual(
      expect.arrayContaining(["demo", "claude-code", "codex", "opencode", "amp"]),
    )
    expect(items.find(({ id }) => id === "auggie")?.terminal_forks).toBe(false)
  })

  test("an agent of one's own says by placeholders how it begins, goes on and forks; what makes no sense is refused", async () => {
    const put = (terminal: object) => rewake.api("POST", "/api/v1/admin/agents", { id: "own", name: "Own", terminal })
    const program = { command: process.execPath, args: [resolve("dist/programs/demo-agent.mjs"), "--terminal"] }
    for (const wrong of [
      { continue_args: ["--resume", "{id}"] },
      { begin_args: ["--session-id", "{id}"] },
      { fork_args: ["--fork", "{from}"] },
      { begin_args: ["{id}"], continue_args: ["{id}", "{from}"] },
      { begin_args: ["{id}"], continue_args: ["{id}"], fork_args: ["--fork", "{from}"] },
    ])
      expect(await put({ ...program, ...wrong })).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } })
    const named = {
      begin_args: ["--session-id", "demo_{id}"],
      continue_args: ["--resume", "demo_{id}"],
      fork_args: ["--fork", "demo_{from}", "--session-id", "demo_{id}"],
    }
    expect((await put({ ...program, ...named })).status).toBe(204)
    const tab = await openAgent("own")
    await say(await look(tab), "remember elder")
    const copy = await fork(tab)
    await say(await look(copy), "remember briar")
    rewake.killDaemon()
    expect(await say(await look(tab), "recall")).toBe("I remember: elder")
    expect(await say(await look(copy), "recall")).toBe("I remember: elder, briar")
    await waitUntil(async () => (await rewake.api("DELETE", "/api/v1/admin/agents/own")).status === 204, "its removal")
  })
})
