export { createGateway, type Gateway, type GatewayDeps } from "./gateway"
export { createSessionChannel } from "./session-channel"
export { startTroubleWatch } from "./trouble-watch"
