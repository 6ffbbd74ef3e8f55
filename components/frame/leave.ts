import { signOut } from "next-auth/react"
import { disconnect } from "@/lib/client/socket"

let leaving = false

export async function leave(): Promise<void> {
  disconnect()
  await signOut({ redirect: false })
  location.assign("/login")
}

/** Every refused request and the socket say "signed out" at once. Each further move would abort the one under way. */
export function signInAgain(): void {
  if (leaving || location.pathname === "/login") return
  leaving = true
  // A page brought back by the browser's Back button keeps its variables.
  addEventListener("pageshow", () => (leaving = false), { once: true })
  location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`)
}
