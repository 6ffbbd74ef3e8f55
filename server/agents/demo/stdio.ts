import { write } from "node:fs"
import { Readable } from "node:stream"
import { ndJsonStream, type Stream } from "@agentclientprotocol/sdk"

/**
 * Standard input and output as a protocol stream. Node writes to a pipe synchronously: a client that holds back would
 * stop this whole process, and it would not hear a cancellation. So the descriptor is written to directly, in the background.
 */
export function openStdio(): Stream {
  const output = new WritableStream<Uint8Array>({
    async write(bytes) {
      for (let done = 0; done < bytes.length; ) done += await writeSome(bytes, done)
    },
  })
  return ndJsonStream(output, Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>)
}

function writeSome(bytes: Uint8Array, from: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(1, bytes, from, bytes.length - from, null, (error, written) => {
      if (!error) resolve(written)
      else if (error.code === "EAGAIN") setTimeout(() => resolve(0), 5)
      else reject(error)
    })
  })
}
