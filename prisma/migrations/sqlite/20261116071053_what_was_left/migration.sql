-- CreateIndex
CREATE INDEX "sessions_state_idx" ON "sessions"("state");

-- CreateIndex
CREATE INDEX "prompts_state_session_id_idx" ON "prompts"("state", "session_id");
