import { CODEX } from "./agents"
import { testArchive } from "./archive-suite"
import { testConversation } from "./conversation-suite"

testConversation(CODEX)
testArchive(CODEX)
