export function startCeph(): Promise<{
  endpoint: string
  credentials: { accessKeyId: string; secretAccessKey: string }
  stop(): Promise<void>
}>
