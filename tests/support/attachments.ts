import { createHash } from "node:crypto"
import type { Attachment } from "../../lib/contracts/attachments"
import type { Rewake } from "./server"

/** The smallest real picture: one dark dot. */
export const DOT = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64")
export const sha256 = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex")

/** Like any picture to whoever looks at its first bytes, and as long as wanted. */
export const pictureOf = (bytes: number): Buffer => Buffer.concat([DOT, Buffer.alloc(bytes - DOT.length, "rewake ")])

export async function upload(
  rewake: Rewake,
  name: string,
  content: Uint8Array,
  options: { type?: string; token?: string } = {},
): Promise<{ status: number; body: { attachment: Attachment; code?: string } }> {
  const response = await fetch(`${rewake.url}/api/v1/attachments?name=${encodeURIComponent(name)}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${options.token ?? rewake.token}`,
      "content-type": options.type ?? "application/octet-stream",
    },
    body: new Uint8Array(content),
  })
  return { status: response.status, body: (await response.json()) as { attachment: Attachment } }
}

export async function attach(rewake: Rewake, name: string, content: Uint8Array, type?: string): Promise<Attachment> {
  const { status, body } = await upload(rewake, name, content, type === undefined ? {} : { type })
  if (status !== 201) throw new Error(`POST /attachments: ${status} ${JSON.stringify(body)}`)
  return body.attachment
}
