export { type Boot, startBoot } from "./boot"
export { bootSweep } from "./boot-sweep"
export { startTakeoverSweep } from "./takeover-sweep"
export { startWaitSweep } from "./wait-sweep"
