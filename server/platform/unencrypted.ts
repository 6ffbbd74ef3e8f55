import { isIP } from "node:net"

/** Can browsers on other machines reach the server by an address without TLS? */
export function isUnencrypted(host: string, publicUrl: string): boolean {
  const { protocol, hostname } = new URL(publicUrl)
  return protocol === "http:" && !(isThisMachine(host) && isThisMachine(hostname))
}

function isThisMachine(name: string): boolean {
  const bare = name.replace(/^\[(.*)\]$/, "$1").toLowerCase()
  return bare === "localhost" || bare === "::1" || (isIP(bare) === 4 && bare.startsWith("127."))
}
