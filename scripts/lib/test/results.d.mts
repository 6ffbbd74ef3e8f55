export interface Results {
  passed: number
  skipped: number
  failures: { name: string; message: string }[]
  times: { name: string; ms: number }[]
}
export function readVitestResults(file: string): Results
export function readPlaywrightResults(file: string): Results
