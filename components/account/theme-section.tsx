"use client"

import { useSyncExternalStore } from "react"
import { cn } from "@/components/ui/cn"
import { Section } from "@/components/ui/page"
import { chooseTheme, onTheme, type ThemeChoice, themeChoice } from "@/lib/client/theme"

export const useThemeChoice = () => useSyncExternalStore<ThemeChoice>(onTheme, themeChoice, () => "system")

export const THEME_CHOICES: readonly { id: ThemeChoice; label: string }[] = [
  { id: "system", label: "System" },
  { id: "light", label: "Light" },
  { id: "dark", label: "Dark" },
]

export function ThemeSection() {
  const choice = useThemeChoice()
  return (
    <Section title="Appearance">
      <div role="radiogroup" aria-label="Theme" className="inline-flex gap-0.5 rounded-md border border-line bg-bg p-0.5">
        {THEME_CHOICES.map(({ id, label }) => (
          <label
            key={id}
            className={cn(
              "flex items-center rounded-sm px-3 py-1 has-focus-visible:outline-2 has-focus-visible:outline-alive touch:min-h-11",
              choice === id ? "bg-hover font-[530] text-text" : "text-text-3 hover:text-text",
            )}
          >
            <input type="radio" name="theme" className="sr-only" checked={choice === id} onChange={() => chooseTheme(id)} />
            {label}
          </label>
        ))}
      </div>
    </Section>
  )
}
