import { describe, expect, test } from "vitest"
import { networkOf } from "../../../server/auth"
import { clientAddress, parseProxies } from "../../../server/platform/client-address"

describe("where a request comes from", () => {
  const none = parseProxies("")
  const proxies = parseProxies("10.0.0.0/8, 192.0.2.1,fd00::/8")

  test("without trusted proxies the header counts for nothing", () => {
    expect(clientAddress("203.0.113.7", "1.2.3.4", none)).toBe("203.0.113.7")
    expect(clientAddress("::ffff:203.0.113.7", undefined, none)).toBe("203.0.113.7")
  })

  test("behind trusted proxies the last address that none of them has counts, whatever the client wrote before it", () => {
    expect(clientAddress("10.0.0.1", "203.0.113.7", proxies)).toBe("203.0.113.7")
    expect(clientAddress("10.0.0.1", "1.2.3.4, 203.0.113.7, 10.9.9.9", proxies)).toBe("203.0.113.7")
    expect(clientAddress("192.0.2.1", "2001:db8::5", proxies)).toBe("2001:db8::5")
    expect(clientAddress("fd00::1", "10.1.1.1, 203.0.113.7", proxies)).toBe("203.0.113.7")
  })

  test("a stranger's header is not believed, and nonsense in a proxy's leaves the proxy", () => {
    expect(clientAddress("203.0.113.7", "10.0.0.5", proxies)).toBe("203.0.113.7")
    expect(clientAddress("10.0.0.1", "<script>", proxies)).toBe("10.0.0.1")
    expect(clientAddress("10.0.0.1", "", proxies)).toBe("10.0.0.1")
    expect(clientAddress(undefined, "1.2.3.4", proxies)).toBe("")
  })

  test.each(["proxy.example", "10.0.0.0/33", "10.0.0.0/x", "fd00::/129"])("%s is no proxy", (entry) => {
    expect(() => parseProxies(entry)).toThrow(entry)
  })
})

test("guesses from one IPv6 subscriber are counted together", () => {
  expect(networkOf("2001:db8:1:2::1")).toBe(networkOf("2001:0db8:1:2:ffff:ffff:ffff:ffff"))
  expect(networkOf("2001:db8:1:2::1")).not.toBe(networkOf("2001:db8:1:3::1"))
  expect(networkOf("::1")).toBe("0:0:0:0::/64")
  expect(networkOf("203.0.113.7")).toBe("203.0.113.7")
})
