-- DropIndex
DROP INDEX "executors_running_status_idx";

-- AlterTable
ALTER TABLE "recovery_reports" ADD COLUMN "note" TEXT;

-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_boots" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "hostname" TEXT NOT NULL,
    "pid" INTEGER NOT NULL,
    "identity" TEXT NOT NULL,
    "started_at" TEXT NOT NULL,
    "lease_until" TEXT NOT NULL,
    "renewals" INTEGER NOT NULL DEFAULT 0,
    "ended_at" TEXT
);
INSERT INTO "new_boots" ("ended_at", "hostname", "id", "identity", "lease_until", "pid", "started_at") SELECT "ended_at", "hostname", "id", "identity", "lease_until", "pid", "started_at" FROM "boots";
DROP TABLE "boots";
ALTER TABLE "new_boots" RENAME TO "boots";
CREATE INDEX "boots_lease_until_idx" ON "boots"("lease_until");
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;

-- CreateIndex
CREATE INDEX "executors_running_status_error_code_idx" ON "executors_running"("status", "error_code");
