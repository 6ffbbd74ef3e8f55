-- CreateIndex
CREATE INDEX "executors_running_agent_execution_id_idx" ON "executors_running"("agent_execution_id");
