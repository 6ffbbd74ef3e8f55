export { type Audit, createAudit, type Trail } from "./audit"
