export { findExpired } from "./find-expired"
export { startReaper } from "./reaper"
