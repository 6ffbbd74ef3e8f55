import { z } from "zod"

/** A moment as everything here writes it. A page, an index or a deadline that is given anything else fails. */
export const Time = z
  .string()
  .regex(
    /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z$/,
    "must be a time in UTC, as 2026-01-31T12:00:00.000Z",
  )
