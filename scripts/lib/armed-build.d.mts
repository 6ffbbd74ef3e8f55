export const ARMED_DIST: string
export function prepareArmedBuild(): Promise<void>
