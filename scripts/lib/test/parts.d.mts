export interface Part {
  name: string
  needs: string[]
  timeoutMs: number
  command(extra: string[], resultsFile: string): string[]
}
export const PARTS: Part[]
export function selectParts(args: string[]): { parts: Part[]; extra: string[] }
