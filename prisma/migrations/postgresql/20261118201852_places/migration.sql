-- AlterTable
ALTER TABLE "executors_running" ADD COLUMN     "place_id" TEXT,
ADD COLUMN     "unpacked" TEXT;
