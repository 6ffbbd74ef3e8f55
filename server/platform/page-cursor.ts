import { AppError } from "../../lib/contracts/errors"

/** Where a page of a list ended: a time and the id that breaks its ties. Opaque to clients. */
export type PageCursor = { at: string; id: string }

export const encodeCursor = ({ at, id }: PageCursor): string => Buffer.from(`${at}|${id}`).toString("base64url")

export function decodeCursor(cursor: string): PageCursor {
  const [at, id] = Buffer.from(cursor, "base64url").toString("utf8").split("|")
  if (!at || !id || !/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(at)) {
    throw new AppError("INVALID_INPUT", "This cursor is not one of ours.", { issues: ["cursor: malformed"] })
  }
  return { at, id }
}
