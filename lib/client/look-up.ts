/**
 * What a table says of a word from outside. Only its own entries count: `table["constructor"]` is a function, and a page that shows
 * one fails.
 */
export const lookUp = <T>(table: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined
