import { SessionOutline } from "@/components/session/session-outline"

export default function Loading() {
  return <SessionOutline />
}
