export type Serial = <T>(job: () => Promise<T>) => Promise<T>

/** One job at a time, in the order they came; a job that fails does not stop the next one. */
export function createSerial(): Serial {
  let tail: Promise<unknown> = Promise.resolve()
  return (job) => {
    const result = tail.then(job)
    tail = result.catch(() => undefined)
    return result
  }
}

/** The same per key; a key nobody uses any more holds no memory. */
export function createKeyedSerial(): <T>(key: string, job: () => Promise<T>) => Promise<T> {
  const tails = new Map<string, Promise<unknown>>()
  return (key, job) => {
    const result = (tails.get(key) ?? Promise.resolve()).then(job)
    const tail = result
      .catch(() => undefined)
      .then(() => {
        if (tails.get(key) === tail) tails.delete(key)
      })
    tails.set(key, tail)
    return result
  }
}
