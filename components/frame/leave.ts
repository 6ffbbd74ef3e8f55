import { signOut } from "next-auth/react"
import { disconnect } from "@/lib/client/socket"

export async function leave(): Promise<void> {
  disconnect()
  await signOut({ redirect: false })
  location.assign("/login")
}
