import { ArchivesPage } from "@/components/admin/archives-page"

export default function AdminArchivesPage() {
  return <ArchivesPage />
}
