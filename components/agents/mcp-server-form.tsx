"use client"

import { type FormEvent, useId, useState } from "react"
import { Button } from "@/components/ui/button"
import { Dialog, DialogActions } from "@/components/ui/dialog"
import { CheckField, Field, FormError, inputClass } from "@/components/ui/field"
import { joinCommandLine, splitCommandLine } from "@/lib/client/command-line"
import { errorSentence } from "@/lib/client/error-sentence"
import { readPairs } from "@/lib/client/pairs"
import { useSaveMcpServer } from "@/lib/client/queries/mcp"
import { type McpServerDefinition, McpServerName, type McpServerView, PutMcpServer } from "@/lib/contracts/mcp"

const isAddress = (line: string) => /^https?:\/\//i.test(line)

/** A line that is an address is one; anything else is a program. */
function definitionOf(line: string, sse: boolean): McpServerDefinition {
  if (isAddress(line)) return { transport: sse ? "sse" : "http", url: line }
  const [command = "", ...args] = splitCommandLine(line)
  return { transport: "stdio", command, args }
}
const lineOf = (server: McpServerView | null) =>
  server === null ? "" : server.transport === "stdio" ? joinCommandLine([server.command, ...server.args]) : server.url

/** Values go in and never come out: to change anything about a server they are given again. */
export function McpServerForm({ server, onClose }: { server: McpServerView | null; onClose: () => void }) {
  const save = useSaveMcpServer()
  const keysId = useId()
  const [line, setLine] = useState(lineOf(server))
  const [problem, setProblem] = useState<string | null>(null)
  const address = isAddress(line.trim())
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const name = McpServerName.safeParse(String(form.get("name")).trim())
    const values = readPairs(String(form.get("values")))
    if (!name.success) return setProblem(`The name ${name.error.issues[0]?.message}`)
    if (typeof values === "string") return setProblem(values)
    const body = PutMcpServer.safeParse({ server: definitionOf(line.trim(), form.get("sse") === "on"), values })
    if (!body.success) return setProblem(body.error.issues.map(({ path, message }) => `${path.join(" ")} ${message}`).join("; "))
    setProblem(null)
    save.mutate({ name: name.data, ...body.data }, { onSuccess: onClose })
  }
  const error = problem ?? (save.error ? errorSentence(save.error) : null)
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={server ? `Edit ${server.name}` : "Add an MCP server"}>
      <form onSubmit={submit} className="mt-2 flex flex-col gap-2.5">
        <Field
          label="Name"
          name="name"
          required
          readOnly={server !== null}
          defaultValue={server?.name}
          placeholder="notes"
          spellCheck={false}
        />
        <Field
          label="Command or address"
          name="line"
          required
          value={line}
          onChange={(event) => setLine(event.target.value)}
          placeholder="npx some-mcp-server, or https://…"
          spellCheck={false}
          className="[&_input]:font-mono [&_input]:text-s"
        />
        {address && (
          <CheckField name="sse" defaultChecked={server?.transport === "sse"} label="An older server, which streams events (SSE)" />
        )}
        <div>
          <label htmlFor={keysId} className="mb-1 block font-[530] text-s text-text-2">
            {address ? "Headers" : "Environment variables"}, one NAME=value a line
          </label>
          <textarea
            id={keysId}
            name="values"
            rows={3}
            spellCheck={false}
            autoComplete="off"
            className={`${inputClass} font-mono text-s`}
            placeholder={server && server.secrets.length > 0 ? `${server.secrets.join(", ")}: give again to keep` : ""}
          />
          <p className="mt-1 text-s text-text-3">Stored encrypted, passed to agents, never shown again.</p>
        </div>
        {error && <FormError>{error}</FormError>}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={save.isPending}>
            {server ? "Save" : "Add"}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
