-- AlterTable
ALTER TABLE "invitations" ADD COLUMN "revoked_at" TEXT;

-- CreateTable
CREATE TABLE "password_resets" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "code_sha256" TEXT NOT NULL,
    "created_by" TEXT,
    "created_at" TEXT NOT NULL,
    "expires_at" TEXT NOT NULL,
    "ended_at" TEXT
);

-- CreateTable
CREATE TABLE "sign_ins" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "created_at" TEXT NOT NULL,
    "expires_at" TEXT NOT NULL,
    "last_seen_at" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "user_agent" TEXT NOT NULL,
    "device_sha256" TEXT,
    "ended_at" TEXT
);

-- CreateTable
CREATE TABLE "identities" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "email" TEXT,
    "created_at" TEXT NOT NULL
);

-- CreateTable
CREATE TABLE "audit_events" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "at" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "user_id" TEXT,
    "user_email" TEXT,
    "via" TEXT NOT NULL,
    "credential_id" TEXT,
    "address" TEXT,
    "target" TEXT,
    "details" TEXT NOT NULL
);

-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_users" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "password_hash" TEXT,
    "created_at" TEXT NOT NULL,
    "disabled_at" TEXT
);
INSERT INTO "new_users" ("created_at", "disabled_at", "email", "id", "name", "password_hash", "role") SELECT "created_at", "disabled_at", "email", "id", "name", "password_hash", "role" FROM "users";
DROP TABLE "users";
ALTER TABLE "new_users" RENAME TO "users";
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");
CREATE TABLE "new_api_tokens" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "token_sha256" TEXT NOT NULL,
    "scopes" TEXT NOT NULL,
    "created_at" TEXT NOT NULL,
    "expires_at" TEXT NOT NULL,
    "last_used_at" TEXT,
    "revoked_at" TEXT
);
-- Tokens from before there were scopes and expiries keep what they could do, for 90 days.
INSERT INTO "new_api_tokens" ("created_at", "id", "last_used_at", "name", "revoked_at", "token_sha256", "user_id", "scopes", "expires_at") SELECT "created_at", "id", "last_used_at", "name", "revoked_at", "token_sha256", "user_id", 'read write admin', strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+90 days') FROM "api_tokens";
DROP TABLE "api_tokens";
ALTER TABLE "new_api_tokens" RENAME TO "api_tokens";
CREATE UNIQUE INDEX "api_tokens_token_sha256_key" ON "api_tokens"("token_sha256");
CREATE INDEX "api_tokens_user_id_idx" ON "api_tokens"("user_id");
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;

-- CreateIndex
CREATE UNIQUE INDEX "password_resets_code_sha256_key" ON "password_resets"("code_sha256");

-- CreateIndex
CREATE INDEX "password_resets_user_id_idx" ON "password_resets"("user_id");

-- CreateIndex
CREATE INDEX "sign_ins_user_id_ended_at_idx" ON "sign_ins"("user_id", "ended_at");

-- CreateIndex
CREATE INDEX "sign_ins_device_sha256_user_id_idx" ON "sign_ins"("device_sha256", "user_id");

-- CreateIndex
CREATE INDEX "identities_user_id_idx" ON "identities"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "identities_issuer_subject_key" ON "identities"("issuer", "subject");

-- CreateIndex
CREATE INDEX "audit_events_at_id_idx" ON "audit_events"("at", "id");

-- CreateIndex
CREATE INDEX "audit_events_action_at_idx" ON "audit_events"("action", "at");

-- CreateIndex
CREATE INDEX "invitations_created_by_idx" ON "invitations"("created_by");

-- The security log is only added to, whatever the code above it does.
CREATE TRIGGER "audit_events_no_update" BEFORE UPDATE ON "audit_events" BEGIN SELECT RAISE(ABORT, 'audit_events is append-only'); END;
CREATE TRIGGER "audit_events_no_delete" BEFORE DELETE ON "audit_events" BEGIN SELECT RAISE(ABORT, 'audit_events is append-only'); END;
