-- AlterTable
ALTER TABLE "workers" ADD COLUMN "agent" TEXT;

-- CreateTable
CREATE TABLE "review_comments" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "session_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "side" TEXT NOT NULL,
    "line" INTEGER NOT NULL,
    "line_text" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "created_at" TEXT NOT NULL,
    "updated_at" TEXT NOT NULL,
    "prompt_id" TEXT
);

-- CreateIndex
CREATE INDEX "review_comments_session_id_idx" ON "review_comments"("session_id");
