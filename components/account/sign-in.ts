import { signIn } from "next-auth/react"

export type SignInResult = "ok" | "wrong" | "rate_limited" | "unreachable"

export async function signInWithPassword(email: string, password: string): Promise<SignInResult> {
  try {
    const result = await signIn("credentials", { redirect: false, email, password })
    if (result?.ok && !result.error) return "ok"
    return result?.error === "RATE_LIMITED" ? "rate_limited" : "wrong"
  } catch {
    return "unreachable"
  }
}

/** Leaves the page for the provider's, which leads back to `callbackUrl`. */
export const signInWithProvider = (callbackUrl: string) => signIn("oidc", { callbackUrl })

export const signInSentence: Record<Exclude<SignInResult, "ok">, string> = {
  wrong: "This email and password do not match an account here.",
  rate_limited: "Too many attempts. Wait a minute, then try again.",
  unreachable: "The server could not be reached. Try again in a moment.",
}

/** Only a path of this site: anything else could send a signed-in user elsewhere. */
export const safeNext = (next: string | null) => (next?.startsWith("/") && !next.startsWith("//") && !next.includes("\\") ? next : "/tasks")
