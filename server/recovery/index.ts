export { type Boot, startBoot } from "./boot"
export { bootSweep } from "./boot-sweep"
export { startWaitSweep } from "./wait-sweep"
