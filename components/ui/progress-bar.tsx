/** How far something is; its words stand beside it. */
export function ProgressBar({ label, percent }: { label: string; percent: number }) {
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      className="h-1 overflow-hidden rounded-full bg-line"
    >
      <div className="h-full bg-alive transition-[width] duration-200" style={{ width: `${percent}%` }} />
    </div>
  )
}
