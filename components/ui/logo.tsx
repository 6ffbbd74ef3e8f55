export function Logo({ className }: { className?: string }) {
  return (
    <svg
      viewBox="0 0 18 18"
      className={className}
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d="M3 11.5a6 6 0 1 1 2.2 3.6" />
      <path d="M2.2 16.2 3 11.4l4.4 1.3" />
      <circle cx="9" cy="9" r="1.9" fill="currentColor" stroke="none" />
    </svg>
  )
}
