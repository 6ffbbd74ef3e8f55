import { readStored, writeStored } from "./stored"

const KEY = "rewake.notify"

export const notificationsOn = () =>
  typeof Notification !== "undefined" && Notification.permission === "granted" && readStored(KEY) === "on"

/** Browsers ask a person only in answer to a click; returns whether notifications are on afterwards. */
export async function turnNotifications(on: boolean): Promise<boolean> {
  writeStored(KEY, on ? "on" : null)
  if (!on || typeof Notification === "undefined") return false
  if (Notification.permission === "default") await Notification.requestPermission()
  return notificationsOn()
}

export function notify(title: string, body: string, path: string, tag: string): void {
  if (!notificationsOn() || !document.hidden) return
  const notification = new Notification(title, { body, tag })
  notification.onclick = () => {
    window.focus()
    location.assign(path)
    notification.close()
  }
}
