import { SessionsPage } from "@/components/admin/sessions-page"

export default function AdminSessionsPage() {
  return <SessionsPage />
}
