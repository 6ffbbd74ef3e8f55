import { measureAgents } from "./agents"
import { measureAppends } from "./appends"
import { measureArchives } from "./archives"
import { measureLatency } from "./latency"
import { measureRecovery } from "./recovery"
import { measureServer } from "./server-figures"
import { measureTerminals } from "./terminals"

export type Figure = { what: string; ours: string; baseline: string; ratio: string; aim: string }

/** Ratios against a baseline of the same run: absolute figures say more about the machine than about the product. */
const figures: Figure[] = []
const parts = {
  appends: measureAppends,
  latency: measureLatency,
  server: measureServer,
  recovery: measureRecovery,
  archives: measureArchives,
  terminals: measureTerminals,
  agents: measureAgents,
}
/** `npm run bench -- recovery` measures one part. */
const asked = process.argv.slice(2)
for (const [name, measure] of Object.entries(parts)) {
  if (asked.length === 0 || asked.includes(name)) figures.push(...(await measure()))
}

console.log(`\nNode ${process.version}, ${new Date().toISOString().slice(0, 10)}\n`)
console.log("| what | ours | baseline | ratio | aim |")
console.log("|---|---|---|---|---|")
for (const { what, ours, baseline, ratio, aim } of figures) console.log(`| ${what} | ${ours} | ${baseline} | ${ratio} | ${aim} |`)
