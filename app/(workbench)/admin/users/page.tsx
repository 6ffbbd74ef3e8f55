import { UsersPage } from "@/components/admin/users-page"

export default function AdminUsersPage() {
  return <UsersPage />
}
