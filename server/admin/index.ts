export { createSystemStatus, type SystemStatus } from "./system-status"
