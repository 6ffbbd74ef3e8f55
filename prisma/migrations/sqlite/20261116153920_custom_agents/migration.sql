-- CreateTable
CREATE TABLE "custom_agents" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "definition" TEXT NOT NULL,
    "updated_at" TEXT NOT NULL
);

-- CreateTable
CREATE TABLE "agent_variables" (
    "agent_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "updated_at" TEXT NOT NULL,

    PRIMARY KEY ("agent_id", "name")
);
