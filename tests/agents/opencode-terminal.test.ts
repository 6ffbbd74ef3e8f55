import { OPENCODE } from "./agents"
import { testTerminal } from "./terminal-suite"

testTerminal(OPENCODE)
