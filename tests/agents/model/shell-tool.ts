import { isObject, type Json, type Tool, text } from "./conversation"

const NAMES = ["bash", "Bash", "shell", "exec_command", "shell_command", "run_shell_command", "Shell", "local_shell"]

/** Whichever tool this agent declared for running a command, and the call that runs it. */
export function shellCall(tools: readonly Tool[], command: string): { tool: Tool; args: Json } | null {
  const known = NAMES.flatMap((name) => tools.filter((tool) => tool.name === name))
  const tool = known[0] ?? tools.find(({ name }) => /bash|shell|exec|terminal/i.test(name))
  return tool ? { tool, args: argumentsFor(tool.schema, command) } : null
}

function argumentsFor(schema: Json, command: string): Json {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  const args: Json = {}
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property)) continue
    if (/^(command|cmd|script)$/.test(name)) args[name] = property.type === "array" ? ["bash", "-lc", command] : command
    // Codex asks a person only for commands that want out of its sandbox.
    else if (name === "sandbox_permissions") Object.assign(args, { [name]: "require_escalated", justification: "A test asks." })
    else if (required.includes(name)) args[name] = anyValue(property)
  }
  return Object.keys(args).length === 0 ? { command } : args
}

function anyValue(property: Json): unknown {
  if (Array.isArray(property.enum)) return property.enum[0]
  const type = text(Array.isArray(property.type) ? property.type[0] : property.type)
  return { boolean: false, number: 30, integer: 30, array: [], object: {} }[type] ?? "test"
}
