import { measureAppends } from "./appends"
import { measureLatency } from "./latency"
import { measureServer } from "./server-figures"

export type Figure = { what: string; ours: string; baseline: string; ratio: string; aim: string }

/** Ratios against a baseline of the same run: absolute figures say more about the machine than about the product. */
const figures: Figure[] = []
for (const measure of [measureAppends, measureLatency, measureServer]) figures.push(...(await measure()))

console.log(`\nNode ${process.version}, ${new Date().toISOString().slice(0, 10)}\n`)
console.log("| what | ours | baseline | ratio | aim |")
console.log("|---|---|---|---|---|")
for (const { what, ours, baseline, ratio, aim } of figures) console.log(`| ${what} | ${ours} | ${baseline} | ${ratio} | ${aim} |`)
