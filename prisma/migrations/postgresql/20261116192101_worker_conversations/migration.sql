-- AlterTable
ALTER TABLE "workers" ADD COLUMN     "conversation_id" TEXT,
ADD COLUMN     "forked_from" TEXT;
