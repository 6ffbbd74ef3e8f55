-- AlterTable
ALTER TABLE "tasks" ADD COLUMN     "last_restore" TEXT,
ADD COLUMN     "restores" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "active_at" TEXT;

-- AlterTable
ALTER TABLE "executors_running" ADD COLUMN     "reap_after" TEXT,
ADD COLUMN     "reap_failures" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "restore_archive_id" TEXT,
ADD COLUMN     "trashed_at" TEXT;
