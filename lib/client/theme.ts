import { readStored, writeStored } from "./stored"

export type ThemeChoice = "system" | "light" | "dark"
export const THEME_KEY = "rewake.theme"

/** Runs before the first paint, so that a reload never flashes the other theme. */
export const themeScript = `(function(){var t=null;try{t=localStorage.getItem("${THEME_KEY}")}catch(e){}
if(t!=="light"&&t!=="dark")t=matchMedia("(prefers-color-scheme: light)").matches?"light":"dark";
document.documentElement.dataset.theme=t})()`

const listeners = new Set<() => void>()

export function themeChoice(): ThemeChoice {
  const stored = readStored(THEME_KEY)
  return stored === "light" || stored === "dark" ? stored : "system"
}

function show(): void {
  const choice = themeChoice()
  const light = choice === "light" || (choice === "system" && matchMedia("(prefers-color-scheme: light)").matches)
  document.documentElement.dataset.theme = light ? "light" : "dark"
  for (const listener of listeners) listener()
}

export function chooseTheme(choice: ThemeChoice): void {
  writeStored(THEME_KEY, choice === "system" ? null : choice)
  show()
}

export function onTheme(listener: () => void): () => void {
  listeners.add(listener)
  const system = matchMedia("(prefers-color-scheme: light)")
  system.addEventListener("change", show)
  return () => {
    listeners.delete(listener)
    system.removeEventListener("change", show)
  }
}
