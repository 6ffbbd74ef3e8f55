/** A command exactly as it will be typed, every character of it in reach: a cut one could hide what it runs. */
export function CommandText({ command }: { command: string }) {
  return (
    <code className="block max-h-24 min-w-0 overflow-y-auto whitespace-pre-wrap break-all font-mono text-s text-text-2">{command}</code>
  )
}
