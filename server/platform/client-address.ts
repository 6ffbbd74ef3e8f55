import { BlockList, isIP } from "node:net"

/** How a route is told where its request comes from. */
export const ADDRESS_HEADER = "x-rewake-address"

/** Addresses and networks (`10.0.0.0/8`) whose X-Forwarded-For is believed. */
export function parseProxies(list: string): BlockList {
  const proxies = new BlockList()
  for (const entry of list.split(",").map((text) => text.trim())) {
    if (entry === "") continue
    const [address = "", prefix] = entry.split("/")
    const family = isIP(address)
    const bits = prefix === undefined ? null : Number(prefix)
    if (family === 0 || (bits !== null && !(Number.isInteger(bits) && bits >= 0 && bits <= (family === 4 ? 32 : 128))))
      throw new Error(`"${entry}" is neither an address nor a network`)
    const kind = family === 4 ? "ipv4" : "ipv6"
    if (bits === null) proxies.addAddress(address, kind)
    else proxies.addSubnet(address, bits, kind)
  }
  return proxies
}

/**
 * Where a request comes from: the last address that no trusted proxy put there. What stands further left in the header was sent by
 * the client, who may write anything. Pure.
 */
export function clientAddress(remote: string | undefined, forwarded: string | undefined, proxies: BlockList): string {
  let address = plain(remote ?? "")
  const hops = (forwarded ?? "").split(",").map((hop) => plain(hop.trim()))
  while (isTrusted(address, proxies)) {
    const hop = hops.pop()
    if (hop === undefined || isIP(hop) === 0) break
    address = hop
  }
  return address
}

function isTrusted(address: string, proxies: BlockList): boolean {
  const family = isIP(address)
  return family !== 0 && proxies.check(address, family === 4 ? "ipv4" : "ipv6")
}

/** An IPv4 client of a socket that takes both is told as `::ffff:1.2.3.4`. */
const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, "")
