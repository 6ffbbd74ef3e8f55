-- DropIndex
DROP INDEX "executors_running_status_idx";

-- AlterTable
ALTER TABLE "boots" ADD COLUMN     "renewals" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "recovery_reports" ADD COLUMN     "note" TEXT;

-- CreateIndex
CREATE INDEX "executors_running_status_error_code_idx" ON "executors_running"("status", "error_code");
