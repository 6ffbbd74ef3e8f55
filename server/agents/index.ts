export type { AgentDefinition } from "./agent"
export { type AgentRegistry, createAgentRegistry } from "./registry"
