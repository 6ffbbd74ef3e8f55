import { randomUUID } from "node:crypto"
import { existsSync, mkdirSync } from "node:fs"
import { open, readdir, readFile, stat } from "node:fs/promises"
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
    readonly begunAt: string,
  ) {}

  /** Without a folder it lives in memory only. In a terminal it is of the folder it was begun in. */
  static async begin(folder: string | null, cwd?: string, id = `demo_${randomUUID()}`): Promise<Conversation> {
    if (folder) mkdirSync(folder, { recursive: true, mode: 0o700 })
    const begun_at = new Date().toISOString()
    const conversation = new Conversation(id, [], folder && fileOf(folder, id), begun_at)
    await conversation.append({ id, begun_at, cwd })
    return conversation
  }

  /** Under a name that was given to it; null when that is none, or taken. */
  static async beginAs(folder: string, cwd: string, id: string): Promise<Conversation | null> {
    return SESSION_ID.test(id) && !existsSync(fileOf(folder, id)) ? Conversation.begin(folder, cwd, id) : null
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
    return new Conversation(id, said, fileOf(folder, id), headOf(text).begun_at ?? "")
  }

  /** The newest of this folder; null when there is none. */
  static async latest(folder: string, cwd: string): Promise<Conversation | null> {
    const found: { id: string; at: number }[] = []
    for (const name of await readdir(folder).catch(() => [])) {
      const id = name.replace(/\.jsonl$/, "")
      const text = SESSION_ID.test(id) ? await readFile(fileOf(folder, id), "utf8").catch(() => "") : ""
      if (headOf(text).cwd === cwd) found.push({ id, at: (await stat(fileOf(folder, id))).mtimeMs })
    }
    found.sort((a, b) => b.at - a.at)
    return found[0] ? Conversation.load(folder, found[0].id) : null
  }

  async add(said: Said): Promise<void> {
    this.said.push(said)
    await this.append(said)
  }

  messagesFromUser(): number {
    return this.said.filter((s) => s.role === "user").length
  }

  /** Roughly what a model would count. */
  size(): number {
    return Math.ceil(this.said.reduce((sum, { text }) => sum + text.length, 0) / 4)
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

function headOf(text: string): { begun_at?: string; cwd?: string } {
  try {
    return JSON.parse(text.slice(0, text.indexOf("\n")))
  } catch {
    return {}
  }
}

const fileOf = (folder: string, id: string): string => join(folder, `${id}.jsonl`)
