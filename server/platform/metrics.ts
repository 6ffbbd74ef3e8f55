import { collectDefaultMetrics, Gauge, Registry } from "prom-client"

/** Prometheus text. Gauges are read when asked for, so that nothing is counted when nobody looks. */
export function createMetrics(gauges: Record<string, { help: string; read: () => number | Promise<number> }>) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: "rewake_" })
  for (const [name, { help, read }] of Object.entries(gauges)) {
    new Gauge({
      name: `rewake_${name}`,
      help,
      registers: [registry],
      async collect() {
        this.set(await read())
      },
    })
  }
  return async () => ({ contentType: registry.contentType, text: await registry.metrics() })
}
