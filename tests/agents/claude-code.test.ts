import { CLAUDE_CODE } from "./agents"
import { testArchive } from "./archive-suite"
import { testConversation } from "./conversation-suite"

testConversation(CLAUDE_CODE)
testArchive(CLAUDE_CODE)
