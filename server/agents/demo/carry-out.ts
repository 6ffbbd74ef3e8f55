import { methods, type PlanEntry, type StopReason } from "@agentclientprotocol/sdk"
import type { Command } from "./command"
import { runCommand } from "./run-command"
import { newToolCallId, type Turn } from "./turn"

const PLAN_ONLY = "I am in plan mode and change nothing."

/** So many updates of a flood are one message; a longer one would be cut. */
const FLOOD_UPDATES = 500

/** Carries out one command. A cancelled turn rejects; its caller answers with the stop reason. */
export async function carryOut(turn: Turn, command: Command): Promise<StopReason> {
  switch (command.kind) {
    case "remember":
      await turn.say(`I will remember ${command.word}.`)
      break
    case "recall": {
      const words = turn.conversation.words()
      await turn.say(words.length > 0 ? `I remember: ${words.join(", ")}` : "I remember nothing yet.")
      break
    }
    case "look":
      await tellWhatIsSeen(turn)
      break
    case "count":
      for (let i = 1; i <= command.upTo; i++) {
        if (i > 1) await turn.pause(command.everyMs)
        await turn.say(i === 1 ? "1" : ` ${i}`)
      }
      break
    case "run":
      if (turn.mode === "plan") await turn.say(PLAN_ONLY)
      else return runCommand(turn, command.command)
      break
    case "write":
      if (turn.mode === "plan") {
        await turn.say(PLAN_ONLY)
        break
      }
      await writeFile(turn, command.path, command.text)
      break
    case "read":
      await readFile(turn, command.path)
      break
    case "ask":
      return askQuestion(turn, command.question)
    case "think":
      for (const thought of ["Let me see what this is about. ", "There are two ways to go on, ", "and the simpler one is enough."]) {
        await turn.think(thought)
        await turn.pause(120)
      }
      await turn.say("I thought about it: the simpler way is enough.")
      break
    case "plan":
      await showPlan(turn)
      break
    case "crash":
      await turn.say("I am about to end in the middle of a sen")
      process.stderr.write("demo agent: crashing as asked\n")
      process.exit(1)
      break
    case "hang":
      await turn.say("I will not finish this. Cancel me when you have seen enough.")
      for (;;) await turn.pause(60_000)
    case "flood":
      for (let i = 1; i <= command.updates; i++) {
        turn.cancelled.throwIfAborted()
        await turn.say(`${i}: ${"x".repeat(4096)}\n`, `flood-${Math.ceil(i / FLOOD_UPDATES)}`)
        // Lets a cancellation in between two writes.
        await new Promise((resolve) => setImmediate(resolve))
      }
      break
    case "mcp": {
      const names = turn.mcpServers.map(({ name }) => name)
      await turn.say(names.length > 0 ? `I was given these MCP servers: ${names.join(", ")}` : "I was given no MCP servers.")
      break
    }
    case "help":
      await turn.say(turn.help)
      break
    case "talk": {
      if (turn.seen.length > 0) {
        await tellWhatIsSeen(turn)
        break
      }
      const count = turn.conversation.messagesFromUser()
      await turn.say(
        `I am the demo agent; I do as told but understand little. I have seen ${count} ${count === 1 ? "message" : "messages"} from you. Say \`help\` to see what I can do.`,
      )
      break
    }
  }
  return "end_turn"
}

async function tellWhatIsSeen(turn: Turn): Promise<void> {
  const lines = turn.seen.map((line) => `- ${line}`)
  await turn.say(lines.length > 0 ? `You gave me:\n\n${lines.join("\n")}` : "You gave me nothing to look at. Attach a picture or a file.")
}

async function writeFile(turn: Turn, path: string, text: string): Promise<void> {
  const toolCallId = newToolCallId()
  const target = absolute(turn, path)
  const sessionId = turn.conversation.id
  await turn.send({
    sessionUpdate: "tool_call",
    toolCallId,
    title: `Write ${path}`,
    kind: "edit",
    status: "in_progress",
    locations: [{ path: target }],
    rawInput: { path },
  })
  const before = await turn.client.request(methods.client.fs.readTextFile, { sessionId, path: target }).catch(() => null)
  try {
    await turn.client.request(methods.client.fs.writeTextFile, { sessionId, path: target, content: text })
  } catch (error) {
    return toolFailed(turn, toolCallId, `I could not write ${path}`, error)
  }
  await turn.send({
    sessionUpdate: "tool_call_update",
    toolCallId,
    status: "completed",
    content: [{ type: "diff", path: target, oldText: before?.content ?? null, newText: text }],
  })
  await turn.say(`I wrote ${text.length} characters to \`${path}\`.`)
}

async function readFile(turn: Turn, path: string): Promise<void> {
  const toolCallId = newToolCallId()
  const target = absolute(turn, path)
  await turn.send({
    sessionUpdate: "tool_call",
    toolCallId,
    title: `Read ${path}`,
    kind: "read",
    status: "in_progress",
    locations: [{ path: target }],
    rawInput: { path },
  })
  try {
    const { content } = await turn.client.request(methods.client.fs.readTextFile, { sessionId: turn.conversation.id, path: target })
    await turn.send({
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: "completed",
      content: [{ type: "content", content: { type: "text", text: content } }],
    })
    await turn.say(`\`${path}\` says:\n\n${"```"}\n${content}\n${"```"}`)
  } catch (error) {
    await toolFailed(turn, toolCallId, `I could not read ${path}`, error)
  }
}

async function toolFailed(turn: Turn, toolCallId: string, what: string, error: unknown): Promise<void> {
  const why = error instanceof Error ? error.message : String(error)
  await turn.send({
    sessionUpdate: "tool_call_update",
    toolCallId,
    status: "failed",
    content: [{ type: "content", content: { type: "text", text: why } }],
  })
  await turn.say(`${what}: ${why}`)
}

async function askQuestion(turn: Turn, question: string): Promise<StopReason> {
  const choices = ["The first way", "The second way", "Neither"]
  const options = choices.map((name, i) => ({ optionId: `choice_${i + 1}`, name, kind: "allow_once" as const }))
  const chosen = await turn.askPerson(newToolCallId(), question, options)
  turn.cancelled.throwIfAborted()
  if (chosen === null) return "cancelled"
  await turn.say(`You chose: ${options.find((o) => o.optionId === chosen)?.name ?? chosen}`)
  return "end_turn"
}

async function showPlan(turn: Turn): Promise<void> {
  const steps = ["Look at what is there", "Make the change", "Check that it works"]
  for (let done = 0; done <= steps.length; done++) {
    const entries = steps.map(
      (content, i): PlanEntry => ({ content, priority: "medium", status: i < done ? "completed" : i === done ? "in_progress" : "pending" }),
    )
    await turn.send({ sessionUpdate: "plan", entries })
    if (done < steps.length) await turn.pause(250)
  }
  await turn.say("The plan is done.")
}

const absolute = (turn: Turn, path: string): string => (path.startsWith("/") ? path : `${turn.cwd}/${path}`)
