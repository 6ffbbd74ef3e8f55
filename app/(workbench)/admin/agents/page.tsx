import { AgentsPage } from "@/components/agents/agents-page"

export default function AdminAgentsPage() {
  return <AgentsPage />
}
