import { execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import http from "node:http"
import { createServer } from "node:net"
import { join } from "node:path"
import { beforeAll, beforeEach, describe, expect, test } from "vitest"
import { type FolderListing, MAX_FOLDER_ENTRIES, MAX_UPLOAD_BYTES } from "../../../lib/contracts/workspace"
import { type FileCalls, fileCalls } from "../../support/daemon-files"
import { useDaemon } from "../../support/use-daemon"

let root: string
let files: FileCalls
let secret: string
let count = 0

const daemon = useDaemon({ per: "file" })
beforeAll(() => {
  secret = join(daemon.dataDir, "secret.txt")
  writeFileSync(secret, "nobody's business")
})
beforeEach(async () => {
  const id = `sess_files${count++}`
  root = (await daemon.putSession(id)).workspace_path
  files = fileCalls(daemon, id)
})

const write = (name: string, content: string | Buffer = name) => {
  mkdirSync(join(root, name, ".."), { recursive: true })
  writeFileSync(join(root, name), content)
}

describe("nothing outside the workspace is read, written or listed", () => {
  const refusals: [string, string, () => void][] = [
    ["..", "outside", () => {}],
    ["../../secret.txt", "outside", () => {}],
    ["folder/../../../secret.txt", "outside", () => write("folder/a.txt")],
    ["/etc/passwd", "outside", () => {}],
    ["link.txt", "link", () => symlinkSync(secret, join(root, "link.txt"))],
    ["linked/secret.txt", "link", () => symlinkSync(daemon.dataDir, join(root, "linked"))],
    ["inside.txt", "link", () => symlinkSync("a.txt", join(root, "inside.txt"))],
    ["proc/cwd/secret.txt", "link", () => symlinkSync("/proc/self", join(root, "proc"))],
    ["fd", "link", () => symlinkSync("/proc/self/fd/0", join(root, "fd"))],
    ["magic/0", "link", () => symlinkSync("/proc/self/fd", join(root, "magic"))],
    [".git/config", "git", () => {}],
    ["sub/.GIT/hooks/post-checkout", "git", () => mkdirSync(join(root, "sub"))],
    ["a//b", "name", () => {}],
    ["./a.txt", "name", () => write("a.txt")],
    ["a\0b", "name", () => {}],
    ["x".repeat(300), "name", () => {}],
  ]
  test.each(refusals)("%j is refused: %s", async (path, reason, prepare) => {
    prepare()
    const before = readFileSync(secret, "utf8")
    const listed = readdirSync(root).sort()
    for (const answer of [await files.get(path), await files.put(path, "overwritten")]) {
      expect([answer.status, answer.body.code, answer.body.reason]).toEqual([422, "PATH_REFUSED", reason])
      expect(answer.bytes.toString()).not.toContain(before)
    }
    expect((await files.list(path)).body.code).toMatch(/PATH_REFUSED|PATH_MISSING/)
    expect(readFileSync(secret, "utf8")).toBe(before)
    expect(readdirSync(root).sort()).toEqual(listed)
  })

  test("a folder that is swapped for a link while its file is read again and again never gives what the link leads to", async () => {
    write("swap/secret.txt", "mine")
    const [folder, away, link] = [join(root, "swap"), join(root, "away"), join(root, "link")]
    symlinkSync(daemon.dataDir, link)
    let going = true
    const swapping = (async () => {
      while (going) {
        renameSync(folder, away)
        renameSync(link, folder)
        await new Promise(setImmediate)
        renameSync(folder, link)
        renameSync(away, folder)
        await new Promise(setImmediate)
      }
    })()
    const seen = new Set<string>()
    try {
      for (let i = 0; i < 300; i++) {
        const answer = await files.get("swap/secret.txt")
        seen.add(answer.status === 200 ? answer.bytes.toString() : String(answer.body.code))
        const put = await files.put("swap/upload.txt", "up")
        seen.add(put.status === 200 ? "written" : String(put.body.code))
      }
    } finally {
      going = false
      await swapping
    }
    expect([...seen].filter((what) => !["mine", "written", "PATH_REFUSED", "PATH_MISSING"].includes(what))).toEqual([])
    expect(seen).toContain("mine")
    expect(seen).toContain("PATH_REFUSED")
    expect(existsSync(join(daemon.dataDir, "upload.txt"))).toBe(false)
    expect(readdirSync(daemon.dataDir).filter((name) => name.startsWith(".rewake-upload"))).toEqual([])
  })

  test("a file swapped for a link just before it is replaced: the link goes, what it led to stays", async () => {
    write("target.txt", "old")
    const answer = await files.put("target.txt", "new")
    expect(answer.status).toBe(200)
    rmSync(join(root, "target.txt"))
    symlinkSync(secret, join(root, "target.txt"))
    expect((await files.put("target.txt", "hostile")).body.reason).toBe("link")
    expect(readFileSync(secret, "utf8")).toBe("nobody's business")
  })

  test("a hard link is a file like any other, and replacing it leaves its other name alone", async () => {
    const elsewhere = join(daemon.dataDir, "elsewhere.txt")
    writeFileSync(elsewhere, "first")
    linkSync(elsewhere, join(root, "hard.txt"))
    expect((await files.put("hard.txt", "second")).status).toBe(200)
    expect(readFileSync(elsewhere, "utf8")).toBe("first")
  })
})

test("a pipe, a socket and a device are refused at once: none of them is opened", async () => {
  execFileSync("mkfifo", [join(root, "pipe")])
  const socket = createServer().listen(join(root, "socket"))
  const special = ["pipe", "socket"]
  try {
    execFileSync("mknod", [join(root, "device"), "c", "1", "3"], { stdio: "ignore" })
    special.push("device")
  } catch {
    // Only root may make one.
  }
  for (const name of special) {
    expect((await files.get(name)).body).toMatchObject({ code: "PATH_REFUSED", reason: "special" })
    expect((await files.put(name, "x")).body).toMatchObject({ code: "PATH_REFUSED", reason: "special" })
  }
  const { body } = await files.list<FolderListing>("")
  expect(body.entries.map(({ name, kind }) => [name, kind])).toEqual(special.sort().map((name) => [name, "other"]))
  socket.close()
})

test("a folder is listed folders first, with sizes and times, links labelled by where they lead, and without git's own", async () => {
  write("b.txt", "12345")
  write("A.txt", "")
  write("src/main.ts")
  symlinkSync("src/main.ts", join(root, "to-file"))
  symlinkSync("src", join(root, "to-folder"))
  symlinkSync(secret, join(root, "to-secret"))
  symlinkSync("gone", join(root, "to-nothing"))
  const { status, body } = await files.list<FolderListing>("")
  expect(status).toBe(200)
  expect(body).toMatchObject({ path: "", total: 7, truncated: false })
  expect(body.entries.map(({ name, kind, link }) => [name, kind, link])).toEqual([
    ["src", "folder", null],
    ["A.txt", "file", null],
    ["b.txt", "file", null],
    ["to-file", "link", { leads: "inside", path: "src/main.ts", kind: "file" }],
    ["to-folder", "link", { leads: "inside", path: "src", kind: "folder" }],
    ["to-nothing", "link", { leads: "nowhere", path: null, kind: null }],
    ["to-secret", "link", { leads: "outside", path: null, kind: null }],
  ])
  const b = body.entries.find(({ name }) => name === "b.txt")
  expect(b).toMatchObject({
    bytes: 5,
    addressable: true,
    modified_at: new Date(Math.floor(statSync(join(root, "b.txt")).mtimeMs)).toISOString(),
  })
  expect((await files.list<FolderListing>("src")).body.entries.map(({ name }) => name)).toEqual(["main.ts"])
  expect((await files.list("b.txt")).body).toMatchObject({ code: "PATH_REFUSED", reason: "not_a_folder" })
  expect((await files.list("nowhere")).body.code).toBe("PATH_MISSING")
})

test("a folder with more entries than are listed says how many there are", async () => {
  mkdirSync(join(root, "many"))
  for (let i = 0; i < MAX_FOLDER_ENTRIES + 7; i++) writeFileSync(join(root, "many", `f${i}`), "")
  const { body } = await files.list<FolderListing>("many")
  expect([body.entries.length, body.total, body.truncated]).toEqual([MAX_FOLDER_ENTRIES, MAX_FOLDER_ENTRIES + 7, true])
})

test.each(["-rf", "a\nb.txt", "käse ☕.txt", "with space", "#?&%41.txt", "'\"$(x)`", "...", "a\\b"])(
  "a file named %j works like any other",
  async (name) => {
    expect((await files.put(name, `of ${name}`)).body).toMatchObject({ path: name, created: true })
    expect(readFileSync(join(root, name), "utf8")).toBe(`of ${name}`)
    expect((await files.get(name)).bytes.toString()).toBe(`of ${name}`)
    expect((await files.list<FolderListing>("")).body.entries).toMatchObject([{ name, addressable: true }])
  },
)

test("a name that is no UTF-8 is shown, and said to be out of reach", async () => {
  writeFileSync(Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9])]), "latin")
  const { body } = await files.list<FolderListing>("")
  expect(body.entries).toMatchObject([{ name: "caf�", kind: "file", addressable: false }])
  expect((await files.get("caf�")).body.code).toBe("PATH_MISSING")
})

test("a file is sent byte by byte with its size and etag, whole or in part", async () => {
  const content = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 7) % 256))
  write("blob", content)
  const whole = await files.get("blob")
  expect([whole.status, whole.headers.get("content-length"), whole.bytes.equals(content)]).toEqual([200, "200000", true])
  expect(whole.headers.get("etag")).toMatch(/^".+"$/)
  const part = await files.get("blob", { range: "bytes=1000-1999" })
  expect([part.status, part.headers.get("content-range")]).toEqual([206, "bytes 1000-1999/200000"])
  expect(part.bytes.equals(content.subarray(1000, 2000))).toBe(true)
  expect((await files.get("blob", { range: "bytes=-5" })).bytes.equals(content.subarray(-5))).toBe(true)
  expect((await files.get("blob", { range: "bytes=199999-" })).bytes.length).toBe(1)
  const beyond = await files.get("blob", { range: "bytes=200000-" })
  expect([beyond.status, beyond.headers.get("content-range")]).toEqual([416, "bytes */200000"])
  write("empty", "")
  expect((await files.get("empty")).bytes.length).toBe(0)
  expect((await files.get("folder-that-is-not")).status).toBe(404)
})

test("an upload replaces the file in one step, keeps its mode, and gives way to what the agent wrote meanwhile", async () => {
  write("run.sh", "old")
  chmodSync(join(root, "run.sh"), 0o755)
  const { headers } = await files.get("run.sh")
  const etag = headers.get("etag") as string
  expect((await files.put("run.sh", "over", { "if-none-match": "*" })).body).toMatchObject({ code: "FILE_EXISTS", etag })
  write("run.sh", "the agent was here")
  const late = await files.put("run.sh", "mine", { "if-match": etag })
  expect([late.status, late.body.code]).toEqual([409, "FILE_CHANGED"])
  expect(readFileSync(join(root, "run.sh"), "utf8")).toBe("the agent was here")
  const again = await files.put("run.sh", "mine", { "if-match": late.body.etag as string })
  expect(again.body).toMatchObject({ bytes: 4, created: false })
  expect((await files.get("run.sh")).headers.get("etag")).toBe(again.body.etag)
  expect(statSync(join(root, "run.sh")).mode & 0o777).toBe(0o755)
  expect((await files.put("nowhere/x", "x")).body.code).toBe("PATH_MISSING")
  expect(readdirSync(root)).toEqual([".git", "run.sh"])
})

test("an upload that is too large, or breaks off, leaves the old file and nothing beside it", async () => {
  write("kept.txt", "kept")
  const large = await files.put("kept.txt", Buffer.alloc(MAX_UPLOAD_BYTES + 1))
  expect([large.status, large.body.code, large.body.limit_bytes]).toEqual([413, "FILE_TOO_LARGE", MAX_UPLOAD_BYTES])
  const headers = { authorization: `Bearer ${daemon.file.secret}`, "x-rewake-epoch": "1", "content-length": 1_000_000 }
  const request = http.request(`${daemon.file.endpoint}/sessions/sess_files${count - 1}/file?path=kept.txt`, { method: "PUT", headers })
  request.on("error", () => undefined)
  request.write(Buffer.alloc(500_000))
  await expect.poll(() => readdirSync(root).length).toBe(3)
  request.destroy()
  await expect.poll(() => readdirSync(root)).toEqual([".git", "kept.txt"])
  expect(readFileSync(join(root, "kept.txt"), "utf8")).toBe("kept")
})

test("a file that shrinks while it is sent breaks off: a short one never looks whole", async () => {
  write("shrinking", Buffer.alloc(64 * 1024 * 1024))
  const { endpoint, secret: bearer } = daemon.file
  const url = `${endpoint}/sessions/sess_files${count - 1}/file?path=shrinking`
  const response = await fetch(url, { headers: { authorization: `Bearer ${bearer}` } })
  truncateSync(join(root, "shrinking"), 10)
  await expect(response.arrayBuffer()).rejects.toThrow()
})

test("uploads carry an epoch like every changing call", async () => {
  expect((await files.put("a.txt", "x", { "x-rewake-epoch": "0" })).body.code).toBe("FENCED")
  expect(existsSync(join(root, "a.txt"))).toBe(false)
})
