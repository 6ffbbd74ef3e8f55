"use client"

import { useState } from "react"
import { Button } from "@/components/ui/button"
import { FormError } from "@/components/ui/field"
import { Page, Section } from "@/components/ui/page"
import { errorSentence } from "@/lib/client/error-sentence"
import { useAgentSettings } from "@/lib/client/queries/agents"
import { AgentForm } from "./agent-form"
import { AgentRow } from "./agent-row"
import { McpServers } from "./mcp-servers"

export function AgentsPage() {
  const agents = useAgentSettings()
  const [adding, setAdding] = useState(false)
  const own = agents.data?.filter((agent) => agent.custom) ?? []
  return (
    <Page title="Agents" lead="Who can be given tasks here. Keys are stored encrypted, given to that agent only, and never shown again.">
      {agents.error && <FormError>{errorSentence(agents.error)}</FormError>}
      <Section title="Known agents" lead="Found on this machine's PATH, or brought from npm when you say so.">
        <ul className="-my-2.5 divide-y divide-line-soft">
          {agents.data
            ?.filter((agent) => !agent.custom)
            .map((agent) => (
              <AgentRow key={agent.id} agent={agent} />
            ))}
        </ul>
      </Section>
      <Section title="Your own" lead="Any command that speaks the Agent Client Protocol, or runs in a terminal.">
        {own.length > 0 && (
          <ul className="-mt-2.5 mb-3 divide-y divide-line-soft">
            {own.map((agent) => (
              <AgentRow key={agent.id} agent={agent} />
            ))}
          </ul>
        )}
        <Button onClick={() => setAdding(true)}>Add an agent…</Button>
      </Section>
      <McpServers />
      {adding && <AgentForm agent={null} onClose={() => setAdding(false)} />}
    </Page>
  )
}
