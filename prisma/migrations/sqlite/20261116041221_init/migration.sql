-- CreateTable
CREATE TABLE "users" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "password_hash" TEXT NOT NULL,
    "auth_epoch" INTEGER NOT NULL DEFAULT 0,
    "created_at" TEXT NOT NULL,
    "disabled_at" TEXT
);

-- CreateTable
CREATE TABLE "invitations" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "code_sha256" TEXT NOT NULL,
    "created_by" TEXT,
    "created_at" TEXT NOT NULL,
    "expires_at" TEXT NOT NULL,
    "accepted_at" TEXT
);

-- CreateTable
CREATE TABLE "api_tokens" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "token_sha256" TEXT NOT NULL,
    "created_at" TEXT NOT NULL,
    "last_used_at" TEXT,
    "revoked_at" TEXT
);

-- CreateTable
CREATE TABLE "settings" (
    "key" TEXT NOT NULL PRIMARY KEY,
    "value" TEXT NOT NULL
);

-- CreateTable
CREATE TABLE "boots" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "hostname" TEXT NOT NULL,
    "pid" INTEGER NOT NULL,
    "identity" TEXT NOT NULL,
    "started_at" TEXT NOT NULL,
    "lease_until" TEXT NOT NULL,
    "ended_at" TEXT
);

-- CreateTable
CREATE TABLE "tasks" (
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
    "deleted_at" TEXT
);

-- CreateTable
CREATE TABLE "sessions" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "task_id" INTEGER NOT NULL,
    "user_id" TEXT NOT NULL,
    "agent" TEXT NOT NULL,
    "runtime" TEXT NOT NULL,
    "created_at" TEXT NOT NULL,
    "updated_at" TEXT NOT NULL,
    "last_seq" INTEGER NOT NULL DEFAULT 0,
    "state" TEXT NOT NULL,
    "open_run_id" TEXT,
    "run_boot_id" TEXT,
    "run_prompt_id" TEXT,
    "run_first_seq" INTEGER,
    "open_waits" INTEGER NOT NULL DEFAULT 0,
    "cancel_requested" INTEGER NOT NULL DEFAULT 0,
    "interruption" TEXT,
    "owner_boot_id" TEXT,
    "owner_epoch" INTEGER NOT NULL DEFAULT 0,
    "spool_id" TEXT,
    "spool_seq" INTEGER NOT NULL DEFAULT 0
);

-- CreateTable
CREATE TABLE "session_events" (
    "session_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "ts" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "v" INTEGER NOT NULL,
    "terminal_run_id" TEXT,
    "payload" TEXT NOT NULL,

    PRIMARY KEY ("session_id", "seq")
);

-- CreateTable
CREATE TABLE "prompts" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "session_id" TEXT NOT NULL,
    "task_id" INTEGER NOT NULL,
    "message_id" TEXT NOT NULL,
    "client_message_id" TEXT,
    "content" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "rank" REAL NOT NULL,
    "run_id" TEXT,
    "spool_id" TEXT,
    "body_sha256" TEXT,
    "queued_at" TEXT NOT NULL
);

-- CreateTable
CREATE TABLE "resume_tokens" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "session_id" TEXT NOT NULL,
    "run_id" TEXT NOT NULL,
    "wait_kind" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "secret_sha256" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "minted_at" TEXT NOT NULL,
    "expires_at" TEXT NOT NULL,
    "outcome" TEXT,
    "confirmed_at" TEXT,
    "request" TEXT NOT NULL
);

-- CreateTable
CREATE TABLE "executors_running" (
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
    "created_at" TEXT NOT NULL,
    "updated_at" TEXT NOT NULL
);

-- CreateTable
CREATE TABLE "workers" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "session_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "created_at" TEXT NOT NULL,
    "closed_at" TEXT
);

-- CreateTable
CREATE TABLE "archives" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "session_id" TEXT NOT NULL,
    "task_id" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "location" TEXT,
    "sha256" TEXT,
    "bytes" REAL,
    "files" INTEGER,
    "created_at" TEXT NOT NULL,
    "error" TEXT
);

-- CreateTable
CREATE TABLE "recovery_reports" (
    "boot_id" TEXT NOT NULL PRIMARY KEY,
    "started_at" TEXT NOT NULL,
    "finished_at" TEXT,
    "found" INTEGER NOT NULL DEFAULT 0,
    "adopted" INTEGER NOT NULL DEFAULT 0,
    "resumed" INTEGER NOT NULL DEFAULT 0,
    "interrupted" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "took_ms" INTEGER,
    "details" TEXT NOT NULL DEFAULT '[]'
);

-- CreateIndex
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");

-- CreateIndex
CREATE UNIQUE INDEX "invitations_code_sha256_key" ON "invitations"("code_sha256");

-- CreateIndex
CREATE UNIQUE INDEX "api_tokens_token_sha256_key" ON "api_tokens"("token_sha256");

-- CreateIndex
CREATE INDEX "api_tokens_user_id_idx" ON "api_tokens"("user_id");

-- CreateIndex
CREATE INDEX "boots_lease_until_idx" ON "boots"("lease_until");

-- CreateIndex
CREATE INDEX "tasks_owner_id_deleted_at_hidden_at_last_activity_at_idx" ON "tasks"("owner_id", "deleted_at", "hidden_at", "last_activity_at");

-- CreateIndex
CREATE INDEX "sessions_task_id_idx" ON "sessions"("task_id");

-- CreateIndex
CREATE INDEX "sessions_user_id_idx" ON "sessions"("user_id");

-- CreateIndex
CREATE INDEX "sessions_open_run_id_idx" ON "sessions"("open_run_id");

-- CreateIndex
CREATE INDEX "sessions_owner_boot_id_idx" ON "sessions"("owner_boot_id");

-- CreateIndex
CREATE UNIQUE INDEX "session_events_terminal_run_id_key" ON "session_events"("terminal_run_id");

-- CreateIndex
CREATE INDEX "prompts_session_id_state_rank_idx" ON "prompts"("session_id", "state", "rank");

-- CreateIndex
CREATE UNIQUE INDEX "prompts_task_id_client_message_id_key" ON "prompts"("task_id", "client_message_id");

-- CreateIndex
CREATE INDEX "resume_tokens_session_id_state_idx" ON "resume_tokens"("session_id", "state");

-- CreateIndex
CREATE INDEX "resume_tokens_state_expires_at_idx" ON "resume_tokens"("state", "expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "executors_running_session_id_key" ON "executors_running"("session_id");

-- CreateIndex
CREATE INDEX "executors_running_status_idx" ON "executors_running"("status");

-- CreateIndex
CREATE INDEX "executors_running_task_id_idx" ON "executors_running"("task_id");

-- CreateIndex
CREATE INDEX "workers_session_id_idx" ON "workers"("session_id");

-- CreateIndex
CREATE INDEX "archives_session_id_idx" ON "archives"("session_id");
