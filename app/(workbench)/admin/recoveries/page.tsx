import { RecoveriesPage } from "@/components/admin/recoveries-page"

export default function AdminRecoveriesPage() {
  return <RecoveriesPage />
}
