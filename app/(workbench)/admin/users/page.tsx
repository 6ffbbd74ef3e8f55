import { PeoplePage } from "@/components/admin/people-page"

export default function AdminUsersPage() {
  return <PeoplePage />
}
