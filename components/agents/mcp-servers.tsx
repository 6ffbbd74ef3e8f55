"use client"

import { useState } from "react"
import { Button } from "@/components/ui/button"
import { FormError } from "@/components/ui/field"
import { Section } from "@/components/ui/page"
import { joinCommandLine } from "@/lib/client/command-line"
import { errorSentence } from "@/lib/client/error-sentence"
import { useMcpServers, useRemoveMcpServer } from "@/lib/client/queries/mcp"
import type { McpServerView } from "@/lib/contracts/mcp"
import { McpServerForm } from "./mcp-server-form"

export function McpServers() {
  const servers = useMcpServers()
  const remove = useRemoveMcpServer()
  const [editing, setEditing] = useState<McpServerView | "new" | null>(null)
  const error = servers.error ?? remove.error
  return (
    <Section title="MCP servers" lead="Tools that every agent is given with its conversation, and again when it comes back.">
      {error && <FormError>{errorSentence(error)}</FormError>}
      {servers.data && servers.data.length > 0 && (
        <ul className="-mt-2.5 mb-3 divide-y divide-line-soft">
          {servers.data.map((server) => (
            <li key={server.name} aria-label={server.name} className="flex flex-wrap items-center gap-x-3 gap-y-1.5 py-2.5">
              <div className="min-w-0 flex-1 basis-60">
                <div className="truncate font-[530]">{server.name}</div>
                <div className="truncate font-mono text-s text-text-3">
                  {server.transport === "stdio" ? joinCommandLine([server.command, ...server.args]) : server.url}
                  {server.secrets.length > 0 && <span className="font-sans"> · {server.secrets.join(", ")} set</span>}
                </div>
              </div>
              <div className="flex items-center gap-1">
                <Button look="quiet" onClick={() => setEditing(server)} aria-label={`Edit ${server.name}`}>
                  Edit…
                </Button>
                <Button
                  look="quiet"
                  disabled={remove.isPending}
                  onClick={() => remove.mutate(server.name)}
                  aria-label={`Take ${server.name} away`}
                >
                  Remove
                </Button>
              </div>
            </li>
          ))}
        </ul>
      )}
      <Button onClick={() => setEditing("new")}>Add an MCP server…</Button>
      {editing && <McpServerForm server={editing === "new" ? null : editing} onClose={() => setEditing(null)} />}
    </Section>
  )
}
