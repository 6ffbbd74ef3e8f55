"use client"

import { Check, ChevronDown } from "lucide-react"
import { Fragment } from "react"
import { buttonClass } from "@/components/ui/button"
import { cn } from "@/components/ui/cn"
import { MenuContent, MenuLabel, MenuRadioGroup, MenuRadioItem, MenuRoot, MenuTrigger } from "@/components/ui/menu"
import type { AgentOption, OptionValues } from "@/lib/contracts/agent-setup"

type Props = { options: readonly AgentOption[]; pending: OptionValues; onChoose: (values: OptionValues) => void }

/** What can be set about the agent, in its own words. A choice it has not confirmed yet is shown dimmed. */
export function AgentOptions({ options, pending, onChoose }: Props) {
  if (options.length === 0) return null
  return (
    <div className="flex min-w-0 items-center gap-0.5 overflow-x-auto [scrollbar-width:none]">
      {options.map((option) => {
        const given = { pending: pending[option.id], onChoose: (value: string | boolean) => onChoose({ [option.id]: value }) }
        return option.type === "select" ? (
          <SelectOption key={option.id} option={option} {...given} />
        ) : (
          <SwitchOption key={option.id} option={option} {...given} />
        )
      })}
    </div>
  )
}

const look = (waits: boolean) => buttonClass("quiet", cn("shrink-0 px-1.5 py-[3px] text-s", waits && "opacity-60"))

type Of<T extends AgentOption["type"], V> = {
  option: Extract<AgentOption, { type: T }>
  pending: string | boolean | undefined
  onChoose: (value: V) => void
}

function SelectOption({ option, pending, onChoose }: Of<"select", string>) {
  const value = String(pending ?? option.current)
  const chosen = option.choices.find((choice) => choice.value === value)
  const groups = [...new Set(option.choices.map(({ group }) => group))]
  return (
    <MenuRoot>
      <MenuTrigger className={look(pending !== undefined)} aria-label={`${option.name}: ${chosen?.name ?? value}`} title={option.name}>
        <span className="max-w-44 truncate phone:max-w-28">{chosen?.name ?? value}</span>
        <ChevronDown className="size-3 text-text-3" />
      </MenuTrigger>
      <MenuContent align="start" side="top" className="w-[min(340px,92vw)]">
        <MenuLabel>{option.name}</MenuLabel>
        <MenuRadioGroup value={value} onValueChange={onChoose}>
          {groups.map((group) => (
            <Fragment key={group}>
              {group && <MenuLabel>{group}</MenuLabel>}
              {option.choices
                .filter((choice) => choice.group === group)
                .map((choice) => (
                  <MenuRadioItem key={choice.value} value={choice.value}>
                    <span className="min-w-0">
                      <span className="block font-[530]">{choice.name}</span>
                      {choice.description && <span className="line-clamp-2 text-s text-text-2">{choice.description}</span>}
                    </span>
                  </MenuRadioItem>
                ))}
            </Fragment>
          ))}
        </MenuRadioGroup>
      </MenuContent>
    </MenuRoot>
  )
}

function SwitchOption({ option, pending, onChoose }: Of<"boolean", boolean>) {
  const on = pending === undefined ? option.current : pending === true
  return (
    <button
      type="button"
      role="switch"
      aria-checked={on}
      title={option.description ?? option.name}
      onClick={() => onChoose(!on)}
      className={cn(look(pending !== undefined), on && "text-text")}
    >
      <span className={cn("grid size-3.5 place-items-center rounded-[4px] border border-line", on && "border-transparent bg-alive")}>
        {on && <Check className="size-2.5 text-alive-ink" strokeWidth={3.5} />}
      </span>
      {option.name}
    </button>
  )
}
