import type { SessionEvent } from "../../../lib/contracts/events"
import { ofKind } from "../../support/events"
import type { Evidence, Finding, SessionEvidence } from "../evidence"
import { fateOf } from "./delivery"

/** [5] One agent at a time: in the log, among the processes, and with an owner. */
export function checkProcesses({ world, sessions, processes, daemonPids }: Evidence): Finding[] {
  const findings: Finding[] = []
  const finding = (invariant: string, where: string, expected: string, found: string) =>
    findings.push({ invariant, where, expected, found })
  const daemons = processes.filter(({ command, session_id }) => session_id === null && command.includes("agentctl.mjs"))
  if (daemons.length > world.place.folders.length)
    finding("5 one daemon per folder", "processes", "one", daemons.map(({ pid }) => pid).join(", "))
  const agentsOf = processes.filter(({ worker_id }) => worker_id === null)
  for (const { pid, parent, session_id, command } of agentsOf) {
    const owned = daemonPids.some((daemon) => isUnder(pid, daemon, processes))
    if (session_id !== null && !owned)
      finding("5 no agent without an owner", session_id, `a child of daemon ${daemonPids}`, `${pid} (parent ${parent}) ${command}`)
  }
  for (const { name, session, daemon, status, spool, log } of sessions) {
    const agents = agentsOf
      .filter(({ session_id, parent }) => session_id === session.id && daemonPids.includes(parent))
      .map(({ pid }) => pid)
    const ready = daemon?.agent?.state === "ready" ? daemon.agent.pid : null
    if (agents.length > 1 || (agents[0] ?? null) !== ready)
      finding("5 one agent per session", name, `the daemon's: ${ready}`, agents.join(", ") || "none")
    if (status.is_agent_running !== (ready !== null))
      finding("9 what is shown is true", name, `is_agent_running ${ready !== null}`, String(status.is_agent_running))
    for (const [place, records] of Object.entries({ spool: spool.records, journal: log })) {
      let up: string | null = null
      for (const record of records) {
        if (record.kind === "agent.started") {
          if (up) finding("5 one agent per session", name, `${up} ended before the next (${place})`, `${record.agent_execution_id} started`)
          up = record.agent_execution_id
        }
        if (record.kind === "agent.exited") {
          if (record.agent_execution_id !== up)
            finding("5 one agent per session", name, `the end of ${up} (${place})`, `the end of ${record.agent_execution_id}`)
          up = null
        }
      }
    }
  }
  for (const mistake of world.place.daemonMistakes())
    finding("the daemon makes no mistakes", "agentctl.log", "nothing uncaught", mistake.slice(0, 600))
  return findings
}

function isUnder(pid: number, root: number, processes: Evidence["processes"]): boolean {
  for (let at = processes.find((one) => one.pid === pid); at; at = processes.find((one) => one.pid === at?.parent))
    if (at.pid === root) return true
  return false
}

/** [6] [7] At rest nobody is RUNNING or STARTING; nothing ended without a cause. */
export function checkStates({ world, sessions }: Evidence): Finding[] {
  const findings: Finding[] = []
  for (const { name, session, log, rows, status } of sessions) {
    const finding = (invariant: string, expected: string, found: string) => findings.push({ invariant, where: name, expected, found })
    if (status.state === "RUNNING" || status.state === "STARTING") finding("6 nobody RUNNING without an owner", "at rest", status.state)
    if (status.executor_status === "unknown") finding("7 an answering daemon is known", "ready", status.executor_status)
    for (const prompt of rows.prompts.filter(({ state }) => state === "queued")) {
      if (status.resume_reason !== "not_resumable")
        finding("L1 accepted input is delivered", `"${prompt.content}" delivered`, "queued for ever")
    }
    const mayHaveLost =
      world.deaths.some(({ who }) => who !== "server") ||
      world.endedByPerson ||
      ofKind(log, "message.user").some(({ content }) => content === "crash")
    const lost = log.find((event) => event.kind === "run.interrupted" || event.kind === "run.failed")
    const edited = world.changed.some(({ session_id, text }) => session_id === session.id && text === "crash")
    if (lost && !mayHaveLost && !edited)
      finding("7 nothing ends on an uncertain signal", "no run lost: neither daemon nor agent died", JSON.stringify(lost))
  }
  return findings
}

type Memory = { strategy: string; conversation: string | null; completed: string[]; heard: string[] }

/** [9] What an agent recalls fits its label: a loaded one knows its conversation, a fresh one knows nothing of before. */
export function checkLabels({ name, session, log, rows }: SessionEvidence): Finding[] {
  const findings: Finding[] = []
  const finding = (expected: string, found: string) =>
    findings.push({ invariant: "9 a fresh agent is never shown as resumed", where: name, expected, found })
  const prompts = new Map(rows.prompts.map((prompt) => [fateOf(prompt.id, log).run_id, fateOf(prompt.id, log).content]))
  const conversations = new Map<string, Memory>()
  const everCompleted: string[] = []
  let memory: Memory = { strategy: "none", conversation: null, completed: [], heard: [] }
  for (const event of log) {
    if (event.kind === "agent.started") memory = { strategy: event.strategy, conversation: null, completed: [], heard: [] }
    if (event.kind === "agent.session_announced") {
      const known = conversations.get(event.agent_session_id)
      const continued = memory.strategy === "loaded" || memory.strategy === "resumed"
      if (continued && !known) finding(`${memory.strategy}: a conversation it had before`, event.agent_session_id)
      if (!continued && known) finding(`${memory.strategy}: a conversation of its own`, event.agent_session_id)
      if (continued && known) memory = { ...known, strategy: memory.strategy }
      memory.conversation = event.agent_session_id
      conversations.set(event.agent_session_id, memory)
    }
    if (event.kind === "run.started") {
      const word = remembered(prompts.get(event.run_id))
      if (word) memory.heard.push(word)
    }
    if (event.kind !== "run.completed") continue
    const content = prompts.get(event.run_id)
    const word = remembered(content)
    if (word) {
      memory.completed.push(word)
      everCompleted.push(word)
    }
    if (content !== "recall") continue
    const recalled = recalledIn(log, event.run_id)
    const injected = memory.strategy === "injected"
    const must = injected ? everCompleted : memory.completed
    const missing = must.filter((one) => !recalled.includes(one))
    const foreign = injected ? [] : recalled.filter((one) => !memory.heard.includes(one))
    if (missing.length > 0)
      finding(`a ${memory.strategy} agent (${session.agent}) that knows ${must.join(", ")}`, `it does not know ${missing.join(", ")}`)
    if (foreign.length > 0)
      finding(
        `a ${memory.strategy} agent (${session.agent}) that knows only ${memory.heard.join(", ") || "nothing"}`,
        `it knows ${foreign.join(", ")}, too`,
      )
  }
  return findings
}

const remembered = (content: string | undefined) => /^remember (\S+)/.exec(content ?? "")?.[1] ?? null
function recalledIn(log: readonly SessionEvent[], runId: string): string[] {
  const text = ofKind(log, "message.agent")
    .filter((event) => event.run_id === runId)
    .map((event) => event.content)
    .join("")
  return /^I remember: (.*)$/.exec(text)?.[1]?.split(", ") ?? []
}
