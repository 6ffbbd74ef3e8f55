import { createHash } from "node:crypto"
import { describe, expect, test } from "vitest"
import type { Outcome } from "../../../lib/contracts/waits"
import type { ResumeToken } from "../../../server/platform/database"
import { judgeAnswer, mintToken, tokenSecret, toWait } from "../../../server/resume-tokens"

const key = "the server's key"
const secret = tokenSecret(key, "rt_1")
const yes: Outcome = { kind: "selected", option_id: "yes" }
const no: Outcome = { kind: "selected", option_id: "no" }
const now = new Date("2026-01-01T00:00:00.000Z")
const live: ResumeToken = {
  id: "rt_1",
  session_id: "sess_1",
  run_id: "run_1",
  wait_kind: "question",
  request_id: "perm_1",
  secret_sha256: createHash("sha256").update(secret).digest("hex"),
  state: "live",
  minted_at: "2025-12-31T00:00:00.000Z",
  expires_at: "2026-01-01T01:00:00.000Z",
  outcome: null,
  confirmed_at: null,
  request: JSON.stringify({
    title: "Which?",
    detail: null,
    options: [
      { id: "yes", label: "Yes", kind: "allow_once" },
      { id: "no", label: "No", kind: "reject_once" },
    ],
  }),
}
const answer: Parameters<typeof judgeAnswer>[1] = { session_id: "sess_1", open_run_id: "run_1", secret, outcome: yes, now }
const judge = (token: Partial<ResumeToken> | null, changes: Partial<typeof answer> = {}) =>
  judgeAnswer(token ? { ...live, ...token } : null, { ...answer, ...changes })
const rejection = (reason: string) => expect.objectContaining({ code: "RESUME_TOKEN_REJECTED", details: { reason } })
function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error("nothing was refused")
}

describe("may this answer be given?", () => {
  test("a live token with its secret, session, run and one of its choices", () => {
    expect(judge({})).toBe("consume")
    expect(judge({}, { outcome: { kind: "cancelled" } })).toBe("consume")
  })
  test.each<[string, string, Partial<ResumeToken> | null, Partial<typeof answer>]>([
    ["unknown", "there is no such token", null, {}],
    ["unknown", "it is another session's", {}, { session_id: "sess_2" }],
    ["unknown", "the secret is wrong", {}, { secret: "guess" }],
    ["unknown", "the secret is empty", {}, { secret: "" }],
    ["unknown", "the secret is another token's", {}, { secret: tokenSecret(key, "rt_2") }],
    ["consumed", "it was answered otherwise", { state: "consumed", outcome: JSON.stringify(no) }, {}],
    ["revoked", "it was revoked", { state: "revoked" }, {}],
    ["expired", "it was swept", { state: "expired" }, {}],
    ["expired", "its time is over, swept or not", {}, { now: new Date(live.expires_at) }],
    ["wrong_run", "its run has ended", {}, { open_run_id: null }],
    ["wrong_run", "another run is open", {}, { open_run_id: "run_2" }],
  ])("rejected as %s: %s", (reason, _, token, changes) => {
    expect(thrownBy(() => judge(token, changes))).toEqual(rejection(reason))
  })
  test("a wrong secret learns nothing: also of tokens that are consumed, revoked or expired it hears unknown", () => {
    for (const state of ["consumed", "revoked", "expired"]) {
      expect(thrownBy(() => judge({ state, outcome: JSON.stringify(yes) }, { secret: "guess" }))).toEqual(rejection("unknown"))
    }
  })
  test("the same answer again is the same answer, also when the run is long over", () => {
    const consumed = { state: "consumed", outcome: JSON.stringify(yes) }
    expect(judge(consumed, { open_run_id: null, now: new Date("2030-01-01") })).toBe("already_consumed_alike")
  })
  test("a choice that was not offered is bad input, not an answer", () => {
    expect(thrownBy(() => judge({}, { outcome: { kind: "selected", option_id: "maybe" } }))).toMatchObject({ code: "INVALID_INPUT" })
  })
})

test("a token's secret is the same after any restart, differs by token and key, and is nowhere in what is stored", () => {
  expect(tokenSecret(key, "rt_1")).toBe(secret)
  expect(new Set([secret, tokenSecret(key, "rt_2"), tokenSecret("another key", "rt_1")]).size).toBe(3)
  const minted = mintToken(key, now, 0.5)
  expect(minted.expires_at).toBe("2026-01-01T00:30:00.000Z")
  expect(JSON.stringify(minted)).not.toContain(tokenSecret(key, minted.resume_token_id))
  expect(minted.secret_sha256).toBe(createHash("sha256").update(tokenSecret(key, minted.resume_token_id)).digest("hex"))
  expect(toWait([key], live)).toMatchObject({ token_id: "rt_1", secret, title: "Which?", deadline_at: live.expires_at })
})

test("after the server's key was changed, a viewer still gets the secret that the stored hash was made from", () => {
  expect(toWait(["a newer key", key], live).secret).toBe(secret)
  expect(toWait(["a newer key", "another older key"], live).secret).toBe(tokenSecret("a newer key", "rt_1"))
})
