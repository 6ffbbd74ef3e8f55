import { expect, test } from "vitest"
import { fileName, mimeType, pictureType } from "../../../server/attachments/recognise"

const PNG = Buffer.from("89504e470d0a1a0a0000", "hex")

test("a picture is known by its first bytes, whatever a client calls it", () => {
  expect(pictureType(PNG)).toBe("image/png")
  expect(pictureType(Buffer.from("ffd8ffe0", "hex"))).toBe("image/jpeg")
  expect(pictureType(Buffer.from("GIF89a.."))).toBe("image/gif")
  expect(pictureType(Buffer.from("RIFF....WEBPVP8 "))).toBe("image/webp")
  expect(mimeType(PNG, "text/html")).toBe("image/png")
})

test("a page or a drawing with scripts is never a picture, also when it says so", () => {
  expect(mimeType(Buffer.from("<script>alert(1)</script>"), "image/png")).toBe("application/octet-stream")
  expect(mimeType(Buffer.from("<svg onload='x'/>"), "image/svg+xml")).toBe("image/svg+xml")
  expect(pictureType(Buffer.from("<svg onload='x'/>"))).toBeNull()
  expect(pictureType(Buffer.alloc(0))).toBeNull()
})

test("the type of a file is passed on if it is one", () => {
  expect(mimeType(Buffer.from("a"), "Text/Markdown; charset=utf-8")).toBe("text/markdown")
  for (const odd of [null, "", "text", "a/b/c", "text/plain\nx-evil: 1"])
    expect(mimeType(Buffer.from("a"), odd)).toBe("application/octet-stream")
})

test("a name is one line without folders or anything invisible", () => {
  expect(fileName("C:\\Users\\me\\shot.png")).toBe("shot.png")
  expect(fileName("../../shot.png")).toBe("shot.png")
  expect(fileName("a\u0000\n\u202eb\ud800.png")).toBe("a b .png")
  expect(fileName("/")).toBe("file")
  expect(fileName(`${"x".repeat(500)}.png`)).toMatch(/^x{100}….{15}\.png$/)
})
