export { deriveStatus } from "./derive-status"
export { expiresAt } from "./expiry"
export { resumeOutlook } from "./resume-outlook"
export { type SessionRows, toSessionView, toStatusReport, toTaskView, type ViewWorld } from "./session-view"
