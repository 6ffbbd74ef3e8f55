/** The request never reached the server, or its answer never came back: whether it took effect is unknown. */
export class NetworkError extends Error {
  override readonly name = "NetworkError"
}

type Sent = { method: string; path: string; headers: Record<string, string> }
type Answered = { status: number; text: string }

export async function sendJson({ method, path, headers, body }: Sent & { body: unknown }): Promise<Answered> {
  const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" }
  const content = body === undefined ? {} : { body: JSON.stringify(body) }
  const init: RequestInit = { method, credentials: "same-origin", headers: { ...headers, ...type }, ...content }
  const response = await fetch(path, init).catch((cause: unknown) => {
    throw new NetworkError("The server could not be reached.", { cause })
  })
  const text = await response.text().catch((cause: unknown) => {
    throw new NetworkError("The connection broke off.", { cause })
  })
  return { status: response.status, text }
}

/** By XMLHttpRequest: fetch does not report the progress of an upload. */
export function sendFile({ method, path, headers, file, onProgress }: Sent & { file: Blob; onProgress?: (percent: number) => void }) {
  return new Promise<Answered>((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(method, path)
    request.setRequestHeader("content-type", file.type || "application/octet-stream")
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded, total }) => onProgress?.(total > 0 ? Math.round((100 * loaded) / total) : 0)
    request.onerror = () => reject(new NetworkError("The connection broke off; nothing was changed."))
    request.onload = () => resolve({ status: request.status, text: request.responseText })
    request.send(file)
  })
}
