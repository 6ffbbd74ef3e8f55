import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { ConfigError, publishToNextAuth, readConfig } from "../../../server/platform/config"

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "rewake-config-"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const read = (env: Record<string, string> = {}) => readConfig({ DATA_DIR: join(folder, "data"), ...env } as unknown as NodeJS.ProcessEnv)

describe("the configuration", () => {
  test.each([
    ["PORT", "abc"],
    ["PORT", "70000"],
    ["PORT", "-1"],
    ["PUBLIC_URL", "not a url"],
    ["DATABASE_URL", "mysql://x"],
    ["AUTH_SECRET", "short"],
    ["AUTH_SECRET", "a-secret-that-is-long-enough short"],
    ["TRUSTED_PROXIES", "proxy.example"],
    ["OIDC_ISSUER", "not a url"],
    ["ADMIN_EMAIL", "nobody"],
    ["ADMIN_PASSWORD", "short"],
    ["MAX_MESSAGE_BYTES", "0"],
    ["MAX_MESSAGE_BYTES", "1.5"],
    ["QUEUE_MAX", "-3"],
    ["AGENTCTL_ORPHAN_HOURS", "0"],
    ["WAIT_DEADLINE_HOURS", "soon"],
    ["AUTO_RESUME", "maybe"],
    ["AUTO_RESUME_WINDOW_HOURS", "-1"],
    ["AUTO_RESUME_CONCURRENCY", "0"],
    ["MAX_ERROR_SUBTYPE_RETRIES", "-1"],
    ["APPEND_CHAT_TASK_EXPIRE_HOURS", "x"],
    ["APPEND_CODE_TASK_EXPIRE_HOURS", "0"],
    ["REAPER_INTERVAL_SECONDS", "0.5"],
    ["ARCHIVE_URL", "ftp://somewhere"],
    ["ARCHIVE_URL", "relative/folder"],
    ["S3_ENDPOINT", "nowhere"],
    ["ARCHIVE_MAX_BYTES", "lots"],
    ["ARCHIVE_FORCE_DELETE_DAYS", "0"],
    ["DEMO_AGENTS", "yes"],
    ["LOG_LEVEL", "loud"],
  ])("%s=%s is refused by name", (name, value) => {
    const pair: Record<string, string> = name === "ADMIN_EMAIL" ? { ADMIN_PASSWORD: "long enough now" } : {}
    expect(() => read({ ...pair, [name]: value })).toThrow(ConfigError)
    expect(() => read({ ...pair, [name]: value })).toThrow(name)
  })
  test("everything that is wrong is told at once", () => {
    expect(() => read({ PORT: "x", QUEUE_MAX: "0", LOG_LEVEL: "loud" })).toThrow(/PORT[\s\S]*QUEUE_MAX[\s\S]*LOG_LEVEL/)
  })
  test("a value that is a secret is not repeated in the message", () => {
    for (const bad of [
      { AUTH_SECRET: "planted-short" },
      { AUTH_SECRET: "planted-and-long-enough planted" },
      { ADMIN_PASSWORD: "planted-9" },
    ]) {
      try {
        read(bad as unknown as Record<string, string>)
        throw new Error("nothing was refused")
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError)
        expect(String(error)).not.toContain("planted")
      }
    }
  })
  test("half an admin, PostgreSQL without AUTH_SECRET, and a folder that cannot be written to are refused", () => {
    expect(() => read({ ADMIN_EMAIL: "a@example.org" })).toThrow(/ADMIN_EMAIL.*ADMIN_PASSWORD/)
    expect(() => read({ DATABASE_URL: "postgresql://x/y" })).toThrow("AUTH_SECRET")
    writeFileSync(join(folder, "a-file"), "")
    expect(() => read({ DATA_DIR: join(folder, "a-file") })).toThrow("DATA_DIR")
  })
  test("nothing set means the documented defaults; blank means not set", () => {
    for (const env of [{}, { PORT: "", DATABASE_URL: "", ADMIN_EMAIL: "", ADMIN_PASSWORD: "", WORKSPACE_ROOTS: "" }]) {
      expect(read(env)).toMatchObject({
        port: 3000,
        host: "127.0.0.1",
        public_url: null,
        database: { kind: "sqlite", file: join(folder, "data", "rewake.db") },
        admin: null,
        workspace_roots: [homedir()],
        max_message_bytes: 262_144,
        queue_max: 50,
        wait_deadline_hours: 72,
        chat_expire_hours: 2,
        code_expire_hours: 24,
        archive: { kind: "folder", folder: join(folder, "data", "archives") },
        archive_max_bytes: 2 * 1024 ** 3,
        demo_agents: true,
      })
    }
  })
  test("archives go to a folder or to a bucket", () => {
    expect(read({ ARCHIVE_URL: "/mnt/archives" }).archive).toEqual({ kind: "folder", folder: "/mnt/archives" })
    expect(read({ ARCHIVE_URL: "file:///mnt/archives" }).archive).toEqual({ kind: "folder", folder: "/mnt/archives" })
    const s3 = {
      ARCHIVE_URL: "s3://bucket/some/prefix/",
      S3_ENDPOINT: "http://127.0.0.1:9000",
      AWS_ACCESS_KEY_ID: "k",
      AWS_SECRET_ACCESS_KEY: "s",
    }
    expect(read(s3).archive).toEqual({
      ...{ kind: "s3", bucket: "bucket", prefix: "some/prefix", endpoint: "http://127.0.0.1:9000", region: "us-east-1" },
      credentials: { accessKeyId: "k", secretAccessKey: "s" },
    })
    expect(() => read({ ARCHIVE_URL: "s3://bucket", AWS_ACCESS_KEY_ID: "k" })).toThrow("AWS_SECRET_ACCESS_KEY")
  })
  test("hours accept decimals, addresses lose their last slash, roots become absolute", () => {
    const config = read({ WAIT_DEADLINE_HOURS: "0.0005", PUBLIC_URL: "https://rewake.example/", WORKSPACE_ROOTS: "/a:/b/../c:" })
    expect(config).toMatchObject({ wait_deadline_hours: 0.0005, public_url: "https://rewake.example", workspace_roots: ["/a", "/c"] })
  })
  test("a provider is set whole or not at all, and only over https or on this machine", () => {
    const provider = { OIDC_ISSUER: "https://login.example/", OIDC_CLIENT_ID: "id", OIDC_CLIENT_SECRET: "secret" }
    expect(read().oidc).toBeNull()
    expect(read({ ...provider, OIDC_DOMAINS: "Team.example, @other.example," }).oidc).toEqual({
      ...{ issuer: "https://login.example", client_id: "id", client_secret: "secret" },
      domains: ["team.example", "other.example"],
    })
    expect(() => read({ ...provider, OIDC_CLIENT_SECRET: "" })).toThrow("OIDC_CLIENT_SECRET")
    expect(() => read({ ...provider, OIDC_ISSUER: "http://login.example" })).toThrow("https")
    expect(read({ ...provider, OIDC_ISSUER: "http://127.0.0.1:4000" }).oidc?.issuer).toBe("http://127.0.0.1:4000")
  })
  test("with SQLite a missing AUTH_SECRET is made once, kept, and readable by its owner only", () => {
    const [first] = read().auth_secrets
    expect(first.length).toBeGreaterThan(32)
    expect(read().auth_secrets).toEqual([first])
    const file = join(folder, "data", "auth-secret")
    expect(readFileSync(file, "utf8").trim()).toBe(first)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, "data")).mode & 0o777).toBe(0o700)
  })
  test("several secrets are separated by spaces, in AUTH_SECRET and in the kept file", () => {
    const [newer, older] = ["the-newer-secret-of-two", "the-older-secret-of-two"]
    expect(read({ AUTH_SECRET: ` ${newer}  ${older} ` }).auth_secrets).toEqual([newer, older])
    const DATA_DIR = join(folder, "rotated")
    read({ DATA_DIR })
    writeFileSync(join(DATA_DIR, "auth-secret"), `${newer}\n${older}\n`)
    expect(read({ DATA_DIR }).auth_secrets).toEqual([newer, older])
    writeFileSync(join(DATA_DIR, "auth-secret"), "short")
    expect(() => read({ DATA_DIR })).toThrow(/auth-secret: must have at least 16/)
  })
  test("agents and shells inherit the caller's environment without a single one of ours", () => {
    const design = [
      ...["PORT", "HOST", "DATA_DIR", "DATABASE_URL", "REDIS_URL", "ARCHIVE_URL", "S3_ENDPOINT", "S3_REGION", "AUTH_SECRET", "PUBLIC_URL"],
      ...[
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "ADMIN_EMAIL",
        "ADMIN_PASSWORD",
        "WORKSPACE_ROOTS",
        "MAX_MESSAGE_BYTES",
        "QUEUE_MAX",
      ],
      ...["AGENTCTL_ORPHAN_HOURS", "AUTO_RESUME", "AUTO_RESUME_WINDOW_HOURS", "AUTO_RESUME_CONCURRENCY", "MAX_ERROR_SUBTYPE_RETRIES"],
      ...["WAIT_DEADLINE_HOURS", "APPEND_CHAT_TASK_EXPIRE_HOURS", "APPEND_CODE_TASK_EXPIRE_HOURS", "REAPER_INTERVAL_SECONDS"],
      ...["ARCHIVE_MAX_BYTES", "ARCHIVE_FORCE_DELETE_DAYS", "DEMO_AGENTS", "NEXTAUTH_URL", "NEXTAUTH_SECRET", "NODE_ENV"],
    ]
    const values: Record<string, string> = {
      ...{
        PORT: "1",
        PUBLIC_URL: "http://x",
        DATABASE_URL: "file:/tmp/x.db",
        ARCHIVE_URL: "/tmp/archives",
        S3_ENDPOINT: "http://127.0.0.1:9000",
        ADMIN_EMAIL: "a@example.org",
        ADMIN_PASSWORD: "long enough now",
      },
      ...{ AUTO_RESUME: "off", DEMO_AGENTS: "on", AUTH_SECRET: "a-long-enough-secret", DATA_DIR: join(folder, "data") },
    }
    const ours = Object.fromEntries(design.map((name) => [name, values[name] ?? "7"]))
    const { child_env } = read({ ...ours, PATH: "/usr/bin", HOME: "/home/x", ANTHROPIC_API_KEY: "the agent's own", npm_config_x: "1" })
    expect(child_env).toEqual({ PATH: "/usr/bin", HOME: "/home/x", ANTHROPIC_API_KEY: "the agent's own" })
  })
  test("next-auth is told its address and secret", () => {
    const env = {} as NodeJS.ProcessEnv
    publishToNextAuth("https://rewake.example", "secret", env)
    expect(env).toEqual({ NEXTAUTH_URL: "https://rewake.example", NEXTAUTH_SECRET: "secret" })
  })
})
