/** Single-letter keys must not act while someone types, or while a dialog or menu is in front. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName)
}

export const overlayOpen = () => document.querySelector("[role=dialog],[role=menu],[role=alertdialog]") !== null

export const isPlainKey = (event: KeyboardEvent) =>
  !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing && !isTyping(event.target) && !overlayOpen()
