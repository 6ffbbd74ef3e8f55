import { AuditPage } from "@/components/admin/audit-page"

export default function AdminAuditPage() {
  return <AuditPage />
}
