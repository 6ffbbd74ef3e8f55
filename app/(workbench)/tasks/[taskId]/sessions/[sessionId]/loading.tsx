/** Lets the frame switch at once; the page fills itself from what the browser already knows. */
export default function Loading() {
  return <div className="flex-1" />
}
