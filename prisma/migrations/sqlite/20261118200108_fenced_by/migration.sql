-- AlterTable
ALTER TABLE "boots" ADD COLUMN "fenced_by" TEXT;
