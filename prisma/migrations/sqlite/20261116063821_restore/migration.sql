-- AlterTable
ALTER TABLE "sessions" ADD COLUMN "active_at" TEXT;

-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_tasks" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "owner_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "agent" TEXT NOT NULL,
    "repository" TEXT,
    "created_at" TEXT NOT NULL,
    "updated_at" TEXT NOT NULL,
    "last_activity_at" TEXT NOT NULL,
    "hidden_at" TEXT,
    "deleted_at" TEXT,
    "restores" INTEGER NOT NULL DEFAULT 0,
    "last_restore" TEXT
);
INSERT INTO "new_tasks" ("agent", "created_at", "deleted_at", "hidden_at", "id", "last_activity_at", "owner_id", "repository", "state", "title", "type", "updated_at") SELECT "agent", "created_at", "deleted_at", "hidden_at", "id", "last_activity_at", "owner_id", "repository", "state", "title", "type", "updated_at" FROM "tasks";
DROP TABLE "tasks";
ALTER TABLE "new_tasks" RENAME TO "tasks";
CREATE INDEX "tasks_owner_id_deleted_at_hidden_at_last_activity_at_idx" ON "tasks"("owner_id", "deleted_at", "hidden_at", "last_activity_at");
CREATE TABLE "new_executors_running" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "session_id" TEXT NOT NULL,
    "task_id" INTEGER NOT NULL,
    "runtime" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "generation" INTEGER NOT NULL DEFAULT 1,
    "executor_name" TEXT,
    "agentctl_url" TEXT,
    "agentctl_port" INTEGER,
    "agentctl_instance_id" TEXT,
    "container_id" TEXT,
    "pid" INTEGER,
    "agent_execution_id" TEXT,
    "supports_session_resume" INTEGER,
    "supports_workspace_only" INTEGER,
    "resume_token" TEXT,
    "resume_strategy" TEXT,
    "context_pending" INTEGER NOT NULL DEFAULT 0,
    "last_message_uuid" TEXT,
    "workspace_path" TEXT,
    "worktree_id" TEXT,
    "worktree_path" TEXT,
    "worktree_branch" TEXT,
    "last_seen_at" TEXT,
    "error_code" TEXT,
    "error_message" TEXT,
    "executor_deleted_at" TEXT,
    "restore_archive_id" TEXT,
    "reap_failures" INTEGER NOT NULL DEFAULT 0,
    "reap_after" TEXT,
    "trashed_at" TEXT,
    "created_at" TEXT NOT NULL,
    "updated_at" TEXT NOT NULL
);
INSERT INTO "new_executors_running" ("agent_execution_id", "agentctl_instance_id", "agentctl_port", "agentctl_url", "container_id", "context_pending", "created_at", "error_code", "error_message", "executor_deleted_at", "executor_name", "generation", "id", "last_message_uuid", "last_seen_at", "pid", "resume_strategy", "resume_token", "runtime", "session_id", "status", "supports_session_resume", "supports_workspace_only", "task_id", "updated_at", "workspace_path", "worktree_branch", "worktree_id", "worktree_path") SELECT "agent_execution_id", "agentctl_instance_id", "agentctl_port", "agentctl_url", "container_id", "context_pending", "created_at", "error_code", "error_message", "executor_deleted_at", "executor_name", "generation", "id", "last_message_uuid", "last_seen_at", "pid", "resume_strategy", "resume_token", "runtime", "session_id", "status", "supports_session_resume", "supports_workspace_only", "task_id", "updated_at", "workspace_path", "worktree_branch", "worktree_id", "worktree_path" FROM "executors_running";
DROP TABLE "executors_running";
ALTER TABLE "new_executors_running" RENAME TO "executors_running";
CREATE UNIQUE INDEX "executors_running_session_id_key" ON "executors_running"("session_id");
CREATE INDEX "executors_running_status_idx" ON "executors_running"("status");
CREATE INDEX "executors_running_task_id_idx" ON "executors_running"("task_id");
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;
