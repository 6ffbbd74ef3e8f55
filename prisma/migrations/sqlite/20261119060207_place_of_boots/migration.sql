-- AlterTable
ALTER TABLE "boots" ADD COLUMN "place_ids" TEXT;
