import { expect, test } from "vitest"
import { EMBEDDED_MAX_BYTES, promptBlocks } from "../../../server/agentctl/acp/prompt-blocks"
import { safeName } from "../../../server/agentctl/attached-files"

const png = { name: "shot.png", mime_type: "image/png", uri: "file:///a/shot.png", content: Buffer.from([0x89, 0x50, 0, 1]) }
const notes = { name: "notes.md", mime_type: "text/markdown", uri: "file:///a/notes.md", content: Buffer.from("\ufeffgrüße") }
const zip = { name: "a.zip", mime_type: "application/zip", uri: "file:///a/a.zip", content: Buffer.from([0x50, 0x4b, 0xff, 0xfe]) }
const all = { image: true, embeddedContext: true }

test("a message without attachments is its text and nothing else", () => {
  expect(promptBlocks("hello", [], all)).toEqual([{ type: "text", text: "hello" }])
})

test("the text comes first, then each attachment in the way the agent declared to take it", () => {
  expect(promptBlocks("see", [png, notes, zip], all)).toEqual([
    { type: "text", text: "see" },
    { type: "image", mimeType: "image/png", data: png.content.toString("base64"), uri: png.uri },
    { type: "resource", resource: { uri: notes.uri, mimeType: "text/markdown", text: "\ufeffgrüße" } },
    { type: "resource_link", name: "a.zip", uri: zip.uri, mimeType: "application/zip", size: 4 },
  ])
})

test("an agent that declared nothing is given a link to each, which every agent must accept", () => {
  expect(promptBlocks("see", [png, notes], {}).map((block) => block.type)).toEqual(["text", "resource_link", "resource_link"])
  expect(promptBlocks("see", [png], { embeddedContext: true }).map((block) => block.type)).toEqual(["text", "resource_link"])
})

test("an empty text is left out when something is attached", () => {
  expect(promptBlocks("", [zip], all).map((block) => block.type)).toEqual(["resource_link"])
})

test("what is not UTF-8, holds zeros or is long is linked, never changed on the way", () => {
  const types = (content: Buffer) => promptBlocks("", [{ ...notes, content }], all).map((block) => block.type)
  expect(types(Buffer.from([0xc3]))).toEqual(["resource_link"])
  expect(types(Buffer.from("a\0b"))).toEqual(["resource_link"])
  expect(types(Buffer.alloc(EMBEDDED_MAX_BYTES, "a"))).toEqual(["resource"])
  expect(types(Buffer.alloc(EMBEDDED_MAX_BYTES + 1, "a"))).toEqual(["resource_link"])
})

test("a text nobody gave a type is plain text", () => {
  expect(promptBlocks("", [{ ...notes, mime_type: "application/octet-stream" }], all)).toMatchObject([
    { resource: { mimeType: "text/plain" } },
  ])
})

test("an attachment's name makes a file's name that leads nowhere, and keeps its ending", () => {
  expect(safeName("../../etc/passwd")).toBe("etc_passwd")
  expect(safeName(".bashrc")).toBe("bashrc")
  expect(safeName("$(rm -rf) a.png")).toBe("rm_-rf_a.png")
  expect(safeName("Bild für Müller.png")).toBe("Bild_für_Müller.png")
  expect(safeName("...")).toBe("file")
  expect(safeName(`${"x".repeat(300)}.png`)).toHaveLength(60)
  expect(safeName(`${"x".repeat(300)}.png`)).toMatch(/\.png$/)
})
