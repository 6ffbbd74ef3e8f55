-- CreateTable
CREATE TABLE "custom_agents" (
    "id" TEXT NOT NULL,
    "definition" TEXT NOT NULL,
    "updated_at" TEXT NOT NULL,

    CONSTRAINT "custom_agents_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_variables" (
    "agent_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "updated_at" TEXT NOT NULL,

    CONSTRAINT "agent_variables_pkey" PRIMARY KEY ("agent_id","name")
);
