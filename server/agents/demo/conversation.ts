import { randomUUID } from "node:crypto"
import { mkdirSync } from "node:fs"
import { open, readFile } from "node:fs/promises"
import { join } from "node:path"
import { parseCommand } from "./command"

export interface Said {
  role: "user" | "agent"
  text: string
}

const SESSION_ID = /^demo_[a-f0-9-]{36}$/

/** What was said so far. With a file, each line is on disk before the turn goes on, so that a killed agent can load it again. */
export class Conversation {
  private constructor(
    readonly id: string,
    readonly said: Said[],
    private readonly file: string | null,
  ) {}

  /** Without a folder it lives in memory only. */
  static async begin(folder: string | null): Promise<Conversation> {
    const id = `demo_${randomUUID()}`
    if (folder) mkdirSync(folder, { recursive: true, mode: 0o700 })
    const conversation = new Conversation(id, [], folder && fileOf(folder, id))
    await conversation.append({ id })
    return conversation
  }

  /** Null when there is no such conversation. */
  static async load(folder: string, id: string): Promise<Conversation | null> {
    if (!SESSION_ID.test(id)) return null
    const text = await readFile(fileOf(folder, id), "utf8").catch(() => null)
    if (text === null) return null
    // A line torn by the kill that ended the last process is not part of the conversation.
    const said = text.split("\n").flatMap((line) => {
      try {
        const { role, text: words } = JSON.parse(line) as Said
        return role === "user" || role === "agent" ? [{ role, text: words }] : []
      } catch {
        return []
      }
    })
    return new Conversation(id, said, fileOf(folder, id))
  }

  async add(said: Said): Promise<void> {
    this.said.push(said)
    await this.append(said)
  }

  messagesFromUser(): number {
    return this.said.filter((s) => s.role === "user").length
  }

  words(): string[] {
    return this.said.flatMap((s) => {
      const command = s.role === "user" ? parseCommand(s.text) : null
      return command?.kind === "remember" ? [command.word] : []
    })
  }

  private async append(line: object): Promise<void> {
    if (!this.file) return
    const file = await open(this.file, "a", 0o600)
    try {
      await file.write(`${JSON.stringify(line)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
  }
}

const fileOf = (folder: string, id: string): string => join(folder, `${id}.jsonl`)
