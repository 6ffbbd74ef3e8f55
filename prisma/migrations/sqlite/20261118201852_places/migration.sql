-- AlterTable
ALTER TABLE "executors_running" ADD COLUMN "place_id" TEXT;
ALTER TABLE "executors_running" ADD COLUMN "unpacked" TEXT;
