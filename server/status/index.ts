export { deriveStatus } from "./derive-status"
export { type ExpiryReason, expiresAt, judgeExpiry, lastActivity, lastUsed } from "./expiry"
export { comebackFacts, hadAgent, planAsItStands, planResume, type ResumePlan } from "./plan-resume"
export { resumeOutlook } from "./resume-outlook"
export {
  interruptionOf,
  isPutAway,
  type SessionRows,
  statusOf,
  toSessionView,
  toStatusReport,
  toTaskView,
  type ViewWorld,
} from "./session-view"
