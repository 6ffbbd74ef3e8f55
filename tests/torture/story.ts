import type { Result } from "./run-schedule"
import { describeStep } from "./schedule"

const SHOWN = 1_200
const cut = (text: string) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}… (${text.length} characters)` : text)

/** What the person did, what died when, what was expected and what was found. */
export function tellStory({ schedule, findings, story }: Result, folder: string): string {
  return [
    `Broken: ${[...new Set(findings.map(({ invariant }) => invariant))].join("; ")}`,
    "",
    `The plan (seed ${schedule.seed}, ${schedule.setting}, ${schedule.steps.length} steps):`,
    ...schedule.steps.map((step, i) => `  ${String(i + 1).padStart(2)}. ${describeStep(step)}`),
    "",
    "What happened:",
    ...story.map((line) => `  ${line}`),
    "",
    ...findings.flatMap(({ invariant, where, expected, found }) => [
      `[${invariant}] ${where}`,
      `  expected: ${cut(expected)}`,
      `  found:    ${cut(found)}`,
    ]),
    "",
    `The data folder is kept: ${folder}`,
    `Again: npm run torture -- --seed ${schedule.seed} --runs 1 --length ${schedule.length}`,
  ].join("\n")
}
