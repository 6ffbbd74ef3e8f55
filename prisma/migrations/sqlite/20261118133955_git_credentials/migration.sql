-- CreateTable
CREATE TABLE "git_credentials" (
    "user_id" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "username" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "updated_at" TEXT NOT NULL,

    PRIMARY KEY ("user_id", "host")
);
