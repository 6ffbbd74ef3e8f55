export { findExpired } from "./find-expired"
export { createReaper } from "./reaper"
