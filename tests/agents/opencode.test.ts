import { OPENCODE } from "./agents"
import { testArchive } from "./archive-suite"
import { testConversation } from "./conversation-suite"

testConversation(OPENCODE)
testArchive(OPENCODE)
