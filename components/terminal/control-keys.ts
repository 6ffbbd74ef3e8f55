/** What Ctrl makes of a key, or null for one it makes nothing of. */
export function controlOf(key: string): string | null {
  if (key.length !== 1) return null
  const code = key.toUpperCase().charCodeAt(0)
  if (code >= 64 && code <= 95) return String.fromCharCode(code - 64)
  return key === "?" ? "\x7f" : key === " " ? "\x00" : null
}

export const PHONE_KEYS: readonly { label: string; name: string; data: string }[] = [
  { label: "Esc", name: "Escape", data: "\x1b" },
  { label: "Tab", name: "Tab", data: "\t" },
  { label: "↑", name: "Up", data: "\x1b[A" },
  { label: "↓", name: "Down", data: "\x1b[B" },
  { label: "←", name: "Left", data: "\x1b[D" },
  { label: "→", name: "Right", data: "\x1b[C" },
  { label: "|", name: "Pipe", data: "|" },
  { label: "~", name: "Tilde", data: "~" },
  { label: "/", name: "Slash", data: "/" },
  { label: "-", name: "Dash", data: "-" },
]
