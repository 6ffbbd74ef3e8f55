export type Command =
  | { kind: "remember"; word: string }
  | { kind: "recall" }
  | { kind: "look" }
  | { kind: "count"; upTo: number; everyMs: number }
  | { kind: "run"; command: string }
  | { kind: "write"; path: string; text: string }
  | { kind: "read"; path: string }
  | { kind: "ask"; question: string }
  | { kind: "think" }
  | { kind: "plan" }
  | { kind: "crash" }
  | { kind: "hang" }
  | { kind: "flood"; updates: number }
  | { kind: "mcp" }
  | { kind: "help" }
  | { kind: "talk" }

/** What a message asks for; anything it does not know is talk. */
export function parseCommand(message: string): Command {
  // As a slash command, or plainly.
  const text = message.trim().replace(/^\//, "")
  const [, verb = "", rest = ""] = /^(\S+)\s*([\s\S]*)$/.exec(text) ?? []
  const [first = "", second = ""] = rest.split(/\s+/)
  switch (verb.toLowerCase()) {
    case "remember":
      return first ? { kind: "remember", word: first } : { kind: "talk" }
    case "count": {
      const upTo = wholeNumber(first)
      return upTo === null ? { kind: "talk" } : { kind: "count", upTo, everyMs: wholeNumber(second) ?? 0 }
    }
    case "run":
      return rest ? { kind: "run", command: rest } : { kind: "talk" }
    case "write":
      return first ? { kind: "write", path: first, text: rest.slice(first.length).replace(/^\s/, "") } : { kind: "talk" }
    case "read":
      return rest ? { kind: "read", path: rest } : { kind: "talk" }
    case "ask":
      return { kind: "ask", question: rest || "Which one?" }
    case "flood":
      return { kind: "flood", updates: wholeNumber(first) ?? 100 }
    case "recall":
    case "look":
    case "think":
    case "plan":
    case "crash":
    case "hang":
    case "mcp":
    case "help":
      return rest === "" ? { kind: verb.toLowerCase() as "recall" } : { kind: "talk" }
    default:
      return { kind: "talk" }
  }
}

const wholeNumber = (text: string): number | null => (/^\d{1,7}$/.test(text) ? Number(text) : null)
