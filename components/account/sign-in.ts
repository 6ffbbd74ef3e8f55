import { signIn } from "next-auth/react"
import { lookUp } from "@/lib/client/look-up"

export type SignInResult = "ok" | "wrong" | "rate_limited" | "unavailable" | "unreachable"

export async function signInWithPassword(email: string, password: string): Promise<SignInResult> {
  try {
    const result = await signIn("credentials", { redirect: false, email, password })
    if (result?.ok && !result.error) return "ok"
    if (result?.error === "RATE_LIMITED") return "rate_limited"
    return result?.error === "DATABASE_UNAVAILABLE" || result?.error === "STORAGE_FULL" ? "unavailable" : "wrong"
  } catch {
    return "unreachable"
  }
}

/** Leaves the page for the provider's, which leads back to `callbackUrl`. */
export const signInWithProvider = (callbackUrl: string) => signIn("oidc", { callbackUrl })

export const signInSentence: Record<Exclude<SignInResult, "ok">, string> = {
  wrong: "This email and password do not match an account here.",
  rate_limited: "Too many attempts. Wait a minute, then try again.",
  unavailable: "The server cannot use its database right now. Try again in a moment.",
  unreachable: "The server could not be reached. Try again in a moment.",
}

/** Of a page that is opened by a link with a code. */
export const NO_CODE = "This address has no code in it. Open the whole link."

const providerErrors: Record<string, string> = {
  NO_INVITATION: "There is no invitation for this account. Ask an admin to invite you.",
  EMAIL_NOT_VERIFIED: "The provider has not verified your e-mail address.",
  ACCOUNT_EXISTS: "There is already an account with this address. Sign in with your password, then connect the provider under Settings.",
  DISABLED: "This account is disabled. Ask an admin.",
}
/** What `?error=` means after the provider led back; null where there is none. */
export const providerErrorSentence = (error: string | null): string | null =>
  error === null ? null : (lookUp(providerErrors, error) ?? "Signing in with the provider did not work. Try again.")
