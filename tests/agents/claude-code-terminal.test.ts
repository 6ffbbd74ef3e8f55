import { CLAUDE_CODE } from "./agents"
import { testTerminal } from "./terminal-suite"

testTerminal(CLAUDE_CODE)
