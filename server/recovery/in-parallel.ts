/** So many at a time, in order of starting. The job must not throw. */
export async function inParallel<T>(limit: number, items: readonly T[], job: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await job(item)
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
}
