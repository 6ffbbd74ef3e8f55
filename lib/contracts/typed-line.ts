/**
 * Whether a line may be typed into a terminal for a user. A control character would act there instead of being typed (`\x15` clears
 * the line, `\r` runs what follows it), and an invisible one would run something other than what was shown.
 */
export const isTypable = (line: string): boolean => !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(line)
