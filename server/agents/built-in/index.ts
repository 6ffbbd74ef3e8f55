import type { AgentDefinition } from "../agent"
import { amp } from "./amp"
import { auggie } from "./auggie"
import { claudeCode } from "./claude-code"
import { codex } from "./codex"
import { copilot } from "./copilot"
import { gemini } from "./gemini"
import { opencode } from "./opencode"

export { demoAgents } from "./demo"

/** In the order people are shown them. */
export const vendorAgents: readonly AgentDefinition[] = [claudeCode, codex, opencode, gemini, copilot, auggie, amp]
