export { createGateway, type Gateway } from "./gateway"
export { createSessionChannel } from "./session-channel"
