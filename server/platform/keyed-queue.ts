/** One job at a time per key, in the order asked. A job that fails does not stop the next. */
export function createKeyedQueue() {
  const tails = new Map<string, Promise<unknown>>()
  return {
    run<T>(key: string, job: () => Promise<T>): Promise<T> {
      const before = tails.get(key) ?? Promise.resolve()
      const mine = before.then(job, job)
      const tail = mine
        .catch(() => {})
        .then(() => {
          if (tails.get(key) === tail) tails.delete(key)
        })
      tails.set(key, tail)
      return mine
    },
    isBusy: (key: string) => tails.has(key),
    /** Settles when everything asked for so far has ended. */
    idle: async () => {
      await Promise.all(tails.values())
    },
  }
}
export type KeyedQueue = ReturnType<typeof createKeyedQueue>
