import { AppError } from "../../lib/contracts/errors"

export function requireMessageSize(message: string, limit: number): void {
  if (Buffer.byteLength(message) > limit) {
    throw new AppError("PAYLOAD_TOO_LARGE", `The message is larger than ${Math.round(limit / 1024)} KiB.`, { limit_bytes: limit })
  }
}

/** Titles are shown in lists and become branch names: one line, nothing invisible. */
export const toTitle = (text: string): string => {
  const line = [...text.replace(/[\p{Cc}\p{Cs}\s]+/gu, " ").trim()]
  return line.length > 80 ? `${line.slice(0, 79).join("")}…` : line.join("") || "Untitled"
}
