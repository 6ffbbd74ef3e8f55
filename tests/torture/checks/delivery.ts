import { createHash } from "node:crypto"
import type { SessionEvent } from "../../../lib/contracts/events"
import { sameOutcome } from "../../../lib/contracts/waits"
import { ofKind } from "../../support/events"
import { numbers } from "../../support/server"
import type { Evidence, Finding, SessionEvidence } from "../evidence"

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

/** [L1] What was acknowledged is in the journal once, and has one fate. */
export function checkAccepted({ world, sessions }: Evidence): Finding[] {
  const findings: Finding[] = []
  const finding = (where: string, expected: string, found: string) =>
    findings.push({ invariant: "L1 accepted input is never lost and never doubled", where, expected, found })
  for (const { name, session, log } of sessions) {
    const acknowledged = world.sent.filter((sent) => sent.session_id === session.id && sent.status === 202 && sent.prompt_id)
    for (const { prompt_id, text } of acknowledged) {
      const queued = ofKind(log, "prompt.queued").filter((event) => event.prompt_id === prompt_id)
      const shown = ofKind(log, "message.user").filter((event) => event.prompt_id === prompt_id)
      if (queued.length !== 1 || shown.length !== 1 || queued[0]?.content !== text)
        finding(name, `"${text}" (${prompt_id}) in the journal once`, `${queued.length} times queued, ${shown.length} times shown`)
    }
    for (const { prompt_id, text, status } of world.changed.filter((change) => change.session_id === session.id)) {
      if (status === 204 && text === null && !ofKind(log, "prompt.withdrawn").some((event) => event.prompt_id === prompt_id))
        finding(name, `${prompt_id} withdrawn, as was answered`, "nothing of it")
      if (status === 200 && text !== null && !ofKind(log, "prompt.edited").some((e) => e.prompt_id === prompt_id && e.content === text))
        finding(name, `${prompt_id} edited to "${text}", as was answered`, "nothing of it")
    }
  }
  const messages = sessions.flatMap(({ log }) => ofKind(log, "message.user"))
  const attempts = groupBy(world.sent, ({ text }) => text)
  for (const [text, shown] of groupBy(messages, ({ content }) => content)) {
    // Without a client id each call is a message of its own; with one, all calls together are one.
    const asked = attempts.get(text) ?? []
    const most = new Set(asked.map((sent, i) => (sent.client_id ? `${sent.task_id} ${sent.client_id}` : i))).size
    if (shown.length > most) finding("all sessions", `"${text}" at most ${most} times`, `${shown.length} times`)
  }
  const clients = groupBy(
    world.sent.filter((sent) => sent.client_id && sent.status === 202),
    (sent) => `${sent.task_id} ${sent.client_id}`,
  )
  for (const [client, calls] of clients) {
    const ids = new Set(calls.map((call) => call.prompt_id))
    if (ids.size > 1) finding("all sessions", `one message for ${client}`, [...ids].join(", "))
  }
  return findings
}

/** [2] A prompt reaches an agent at most once, as it was last edited; a completed run has heard it. */
export function checkDelivered({ sessions, heard }: Evidence): Finding[] {
  const findings: Finding[] = []
  for (const evidence of sessions) {
    const { name, session, log, spool, ledger, rows, carriedOut } = evidence
    const finding = (expected: string, found: string) =>
      findings.push({ invariant: "2 a prompt reaches an agent at most once", where: name, expected, found })
    for (const [id, entries] of groupBy(ledger, ({ prompt_id }) => prompt_id))
      if (entries.length !== 1) finding(`${id} once in the daemon's ledger`, `${entries.length} times`)
    const accepted = spool.records.flatMap((record) => (record.kind === "prompt.accepted" ? [record.prompt_id] : []))
    if (new Set(accepted).size !== accepted.length) finding("each prompt accepted once", accepted.join(", "))
    const injected = ofKind(log, "agent.started").some((event) => event.strategy === "injected")
    for (const prompt of rows.prompts) {
      const fate = fateOf(prompt.id, log)
      if (fate.delivering > 1) finding(`${prompt.id} delivered once`, `${fate.delivering} times`)
      if (fate.delivering > 0 && fate.withdrawn) finding(`${prompt.id} withdrawn and not delivered`, "both")
      if (fate.delivering === 0 && ledger.some(({ prompt_id }) => prompt_id === prompt.id))
        finding(`${prompt.id} announced before it was handed over`, "only the daemon knows of it")
      if (fate.sha256 && !injected && fate.sha256 !== createHash("sha256").update(fate.content).digest("hex"))
        finding(`${prompt.id} delivered as "${fate.content}"`, "another text")
      const given = ledger.find(({ prompt_id }) => prompt_id === prompt.id)
      if (given && given.body_sha256 !== fate.sha256) finding(`the daemon got ${prompt.id} as announced`, "another text")
      const word = /\bw\d+n\d+\b/.exec(fate.content)?.[0]
      if (!word) continue
      const times = heard.filter((text) => new RegExp(`\\b${word}\\b`).test(text)).length
      if (session.agent === "demo" && times > 1) finding(`the agent heard "${fate.content}" once`, `${times} times`)
      if (session.agent === "demo" && fate.end === "run.completed" && times !== 1)
        finding(`the agent of a completed run heard "${fate.content}"`, `${times} times`)
      const runs = carriedOut.filter((line) => line === word).length
      if (runs > 1) finding(`"${fate.content}" was carried out once`, `${runs} times`)
    }
  }
  return findings
}

/** [L2] Files are in their folder or in an archive that was verified, always; and in them is what the agent did there. */
export function checkFiles({ name, log, rows, files, carriedOut }: SessionEvidence): Finding[] {
  const finding = (expected: string, found: string): Finding => ({ invariant: "L2 files are never lost", where: name, expected, found })
  if (!ofKind(log, "executor.ready").length) return []
  if (!files) return [finding("the folder or a verified archive", "neither")]
  return rows.prompts.flatMap((prompt): Finding[] => {
    const { content, run_id } = fateOf(prompt.id, log)
    const word = /^run echo (\S+) >> heard\.txt/.exec(content)?.[1]
    const done = ofKind(log, "tool.update").some((event) => event.run_id === run_id && event.status === "completed")
    return word && run_id && done && !carriedOut.includes(word) ? [finding(`"${word}" in heard.txt`, JSON.stringify(files))] : []
  })
}

export function fateOf(promptId: string, log: readonly SessionEvent[]) {
  const fate = {
    content: "",
    delivering: 0,
    withdrawn: false,
    sha256: null as string | null,
    run_id: null as string | null,
    end: null as string | null,
  }
  for (const event of log) {
    if ((event.kind === "prompt.queued" || event.kind === "prompt.edited") && event.prompt_id === promptId) fate.content = event.content
    if (event.kind === "prompt.withdrawn" && event.prompt_id === promptId) fate.withdrawn = true
    if (event.kind === "prompt.delivering" && event.prompt_id === promptId) {
      fate.delivering++
      fate.sha256 = event.body_sha256
      fate.run_id = event.run_id
    }
    if (
      /^run\.(completed|failed|cancelled|interrupted)$/.test(event.kind) &&
      "run_id" in event &&
      event.run_id === fate.run_id &&
      fate.run_id
    )
      fate.end = event.kind
  }
  return fate
}

/** [L1] What a completed `count` said is complete and in order; what was cut off is its beginning. */
export function checkText({ name, log, rows }: SessionEvidence): Finding[] {
  return rows.prompts.flatMap((prompt): Finding[] => {
    const { content, run_id, end } = fateOf(prompt.id, log)
    const upTo = /^count (\d+) \d+/.exec(content)?.[1]
    if (!upTo || !run_id || !end) return []
    const messages = ofKind(log, "message.agent").filter((event) => event.run_id === run_id)
    const said = messages.map((event) => event.content).join("")
    const streamed = ofKind(log, "message.delta")
      .filter((event) => event.run_id === run_id)
      .map((event) => event.content)
      .join("")
    const whole = numbers(Number(upTo))
    const right = end === "run.completed" ? said === whole : whole.startsWith(said)
    const where = `${name}, ${run_id} (${end})`
    const findings: Finding[] = []
    if (!right) findings.push({ invariant: "1 text complete and in order", where, expected: whole, found: said })
    if (said !== streamed) findings.push({ invariant: "1 text as it was streamed", where, expected: streamed, found: said })
    return findings
  })
}

/** [4] A token is consumed at most once; the answer that was accepted is the one the agent got, or the run ended. */
export function checkTokens({ world, sessions }: Evidence): Finding[] {
  const findings: Finding[] = []
  for (const { name, session, log, spool, sinceSpool } of sessions) {
    const finding = (expected: string, found: string) =>
      findings.push({ invariant: "4 a resume token is consumed at most once", where: name, expected, found })
    for (const minted of ofKind(log, "token.minted")) {
      const id = minted.resume_token_id
      const consumed = ofKind(log, "token.consumed").filter((event) => event.resume_token_id === id)
      const over = log.filter(
        (event) => (event.kind === "token.revoked" || event.kind === "token.expired") && event.resume_token_id === id,
      ).length
      if (consumed.length + over !== 1) finding(`${id} consumed, revoked or expired, once`, `${consumed.length} + ${over} times`)
      const accepted = world.answered.filter(
        (answer) => answer.session_id === session.id && answer.token_id === id && answer.status === 202,
      )
      const standing = consumed[0]?.outcome
      for (const { outcome } of accepted) {
        if (!standing) finding(`the accepted answer to ${id} in the journal`, "nothing of it")
        else if (!sameOutcome(standing, outcome))
          finding(`${id}: ${JSON.stringify(standing)} stands`, `${JSON.stringify(outcome)} was accepted, too`)
      }
      if (!sinceSpool.includes(minted)) continue
      const resolved = spool.records.find((record) => record.kind === "permission.resolved" && record.permission_id === minted.request_id)
      const end = log.find(
        (event) =>
          "run_id" in event && event.run_id === minted.run_id && /^run\.(completed|failed|cancelled|interrupted)$/.test(event.kind),
      )
      if (standing && resolved?.kind === "permission.resolved" && !sameOutcome(resolved.outcome, standing) && end?.kind === "run.completed")
        finding(`the agent told ${JSON.stringify(standing)}`, JSON.stringify(resolved.outcome))
      if (standing && !resolved && end?.kind === "run.completed")
        finding(`the answer to ${id} given to the agent`, "the run completed without it")
    }
  }
  return findings
}
