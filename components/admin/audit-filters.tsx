"use client"

import { Button } from "@/components/ui/button"
import { Field, SelectField } from "@/components/ui/field"
import { AUDIT_ACTIONS, AUDIT_OUTCOMES, auditWords, outcomeWords } from "@/lib/client/audit-words"
import type { AuditFiltersState } from "./use-audit-filters"

export function AuditFilters({ filters: { chosen, choose, clear, narrowed } }: { filters: AuditFiltersState }) {
  return (
    <fieldset className="flex flex-wrap items-end gap-2 phone:grid phone:w-full phone:grid-cols-2">
      <legend className="sr-only">Show</legend>
      <SelectField
        label="What"
        value={chosen.action}
        onChange={(event) => choose({ action: event.target.value })}
        className="w-60 phone:col-span-2 phone:w-full"
      >
        <option value="">Everything</option>
        {AUDIT_ACTIONS.map((action) => (
          <option key={action} value={action}>
            {auditWords[action]}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Outcome"
        value={chosen.outcome}
        onChange={(event) => choose({ outcome: event.target.value })}
        className="w-28 phone:w-full"
      >
        <option value="">Any</option>
        {AUDIT_OUTCOMES.map((outcome) => (
          <option key={outcome} value={outcome}>
            {outcomeWords[outcome]}
          </option>
        ))}
      </SelectField>
      <Field
        label="User"
        type="search"
        placeholder="Part of an address"
        maxLength={200}
        value={chosen.user}
        onChange={(event) => choose({ user: event.target.value })}
        className="w-44 phone:w-full"
      />
      <Field
        label="Since"
        type="date"
        value={chosen.since}
        onChange={(event) => choose({ since: event.target.value })}
        className="w-36 phone:w-full"
      />
      <Field
        label="Until"
        type="date"
        value={chosen.until}
        onChange={(event) => choose({ until: event.target.value })}
        className="w-36 phone:w-full"
      />
      {narrowed && (
        <Button look="quiet" onClick={clear}>
          Clear
        </Button>
      )}
    </fieldset>
  )
}
