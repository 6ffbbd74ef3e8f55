-- AlterTable
ALTER TABLE "workers" ADD COLUMN "conversation_id" TEXT;
ALTER TABLE "workers" ADD COLUMN "forked_from" TEXT;
