-- AlterTable
ALTER TABLE "executors_running" ADD COLUMN "agent_options" TEXT;
ALTER TABLE "executors_running" ADD COLUMN "agent_setup" TEXT;
ALTER TABLE "executors_running" ADD COLUMN "agent_sign_in" TEXT;
ALTER TABLE "executors_running" ADD COLUMN "agent_usage" TEXT;

-- CreateTable
CREATE TABLE "mcp_servers" (
    "name" TEXT NOT NULL PRIMARY KEY,
    "definition" TEXT NOT NULL,
    "secrets" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "updated_at" TEXT NOT NULL
);
