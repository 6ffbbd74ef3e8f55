import type { GitCredential } from "../../lib/contracts/agentctl/protocol"

/**
 * Answers git for one protocol and host and for no other, so that a redirect elsewhere gets nothing. All of it is done by the shell
 * itself: no command line ever holds the secret.
 */
const HELPER = [
  '!f() { [ "$1" = get ] || return 0',
  'while IFS="=" read -r key value',
  'do case "$key" in protocol) protocol=$value ;; host) host=$value ;; esac',
  "done",
  '[ "$protocol" = "$REWAKE_GIT_PROTOCOL" ] && [ "$host" = "$REWAKE_GIT_HOST" ] || return 0',
  'printf "username=%s\\npassword=%s\\n" "$REWAKE_GIT_USERNAME" "$REWAKE_GIT_SECRET"',
  "}; f",
].join("\n")

export type AnswerToGit = { args: string[]; env: Record<string, string>; secret: string }

/** What one git command needs to sign in at this URL's host. Null: the credential is not for that host. */
export function answerToGit(url: string, { protocol, host, username, secret }: GitCredential): AnswerToGit | null {
  // git names the host as the URL writes it, the default port included.
  const [, written, named] = /^(https?):\/\/([^/?#]+)/.exec(url) ?? []
  if (named === undefined || written !== protocol || !URL.canParse(url) || new URL(url).host !== host) return null
  return {
    // The empty one removes the user's own helpers: they would be told to store what git was given.
    args: ["-c", "credential.helper=", "-c", `credential.helper=${HELPER}`],
    env: { REWAKE_GIT_PROTOCOL: protocol, REWAKE_GIT_HOST: named, REWAKE_GIT_USERNAME: username, REWAKE_GIT_SECRET: secret },
    secret,
  }
}
