import { AppError, fromErrorBody } from "@/lib/contracts/errors"
import { NetworkError } from "./api"

type Sending = {
  method: "PUT" | "POST"
  path: string
  headers: Record<string, string>
  file: File
  onProgress: (percent: number) => void
}

/** With progress, which fetch does not tell of a body on its way up. */
export function sendFile<T>({ method, path, headers, file, onProgress }: Sending): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(method, path)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? Math.round((100 * loaded) / total) : 0)
    request.onerror = () => reject(new NetworkError("The connection broke off; nothing was changed."))
    request.onload = () => {
      const body = parse(request.responseText)
      if (request.status >= 200 && request.status < 300) resolve(body as T)
      else reject(fromErrorBody(body) ?? new AppError("INTERNAL", `The server answered ${request.status}.`, {}))
    }
    request.send(file)
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
