import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import { z } from "zod"
import { AppError } from "../../lib/contracts/errors"
import { Outcome, sameOutcome, type Wait, type WaitKind, WaitOption } from "../../lib/contracts/waits"
import { readColumn } from "../platform/columns"
import type { ResumeToken } from "../platform/database"
import { ids } from "../platform/ids"

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

/** The secret is computed, never stored: an authorised viewer gets it again after any restart, a copied database gives nothing. */
export const tokenSecret = (serverKey: string, tokenId: string) =>
  createHmac("sha256", serverKey).update(`resume-token:${tokenId}`).digest("base64url")

export type Minted = { resume_token_id: string; secret_sha256: string; expires_at: string }
export function mintToken(serverKey: string, now: Date, deadlineHours: number): Minted {
  const resume_token_id = ids.resumeToken()
  return {
    resume_token_id,
    secret_sha256: sha256(tokenSecret(serverKey, resume_token_id)),
    expires_at: new Date(now.getTime() + deadlineHours * 3_600_000).toISOString(),
  }
}

const Request = z.object({ title: z.string(), detail: z.string().nullable(), options: z.array(WaitOption) })

/** The secret that the stored hash was made from, whichever of the server's keys was the first then. */
function secretOf(serverKeys: readonly [string, ...string[]], token: ResumeToken): string {
  const secrets = serverKeys.map((key) => tokenSecret(key, token.id))
  return secrets.find((secret) => secretMatches(token, secret)) ?? tokenSecret(serverKeys[0], token.id)
}

export function toWait(serverKeys: readonly [string, ...string[]], token: ResumeToken): Wait {
  const request = requestOf(token)
  return {
    token_id: token.id,
    secret: secretOf(serverKeys, token),
    wait_kind: token.wait_kind as WaitKind,
    deadline_at: token.expires_at,
    ...request,
  }
}

/** A question that cannot be read any more can still be cancelled; it offers nothing that somebody would allow unseen. */
export const requestOf = (token: ResumeToken) => readColumn(`resume_tokens.request ${token.id}`, token.request, Request, UNREADABLE)
const UNREADABLE: z.infer<typeof Request> = { title: "The agent's question cannot be read any more", detail: null, options: [] }

/** What a person answered. One that cannot be read any more is given as cancelled: nothing is allowed that nobody can prove was allowed. */
export const outcomeOf = (token: ResumeToken): Outcome =>
  readColumn(`resume_tokens.outcome ${token.id}`, token.outcome, Outcome, { kind: "cancelled" })

export type Verdict = "consume" | "already_consumed_alike"

/** May this answer be given? Pure: the commit that follows is what makes it happen once. */
export function judgeAnswer(
  token: ResumeToken | null,
  answer: { session_id: string; open_run_id: string | null; secret: string; outcome: Outcome; now: Date },
): Verdict {
  if (!token || token.session_id !== answer.session_id || !secretMatches(token, answer.secret)) throw rejected("unknown")
  if (token.state === "consumed") {
    const outcome = readColumn(`resume_tokens.outcome ${token.id}`, token.outcome, Outcome, null)
    if (outcome && sameOutcome(outcome, answer.outcome)) return "already_consumed_alike"
    throw rejected("consumed")
  }
  if (token.state === "revoked") throw rejected("revoked")
  if (token.state === "expired" || answer.now.toISOString() >= token.expires_at) throw rejected("expired")
  if (token.run_id !== answer.open_run_id) throw rejected("wrong_run")
  if (answer.outcome.kind === "selected") {
    const chosen = answer.outcome.option_id
    const { options } = requestOf(token)
    if (!options.some((option) => option.id === chosen)) {
      throw new AppError("INVALID_INPUT", "That is not one of the choices.", { issues: ["outcome.option_id: unknown option"] })
    }
  }
  return "consume"
}

function secretMatches(token: ResumeToken, secret: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(secret), "hex"), Buffer.from(token.secret_sha256, "hex"))
}

const sentence = {
  unknown: "This question does not exist, or its secret is wrong.",
  consumed: "This question was already answered differently.",
  revoked: "This question was withdrawn.",
  expired: "The time to answer this question is over.",
  wrong_run: "This question belongs to a run that has ended.",
}
export const rejected = (reason: keyof typeof sentence) => new AppError("RESUME_TOKEN_REJECTED", sentence[reason], { reason })
