-- AlterTable
ALTER TABLE "boots" ADD COLUMN     "place_id" TEXT;
