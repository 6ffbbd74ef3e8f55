export { type Audit, type AuditSource, createAudit, type Trail } from "./audit"
