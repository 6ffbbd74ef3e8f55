import type { UploadedPart } from "../../lib/contracts/agentctl/archive"
import type { Config } from "../platform/config"
import { ArchiveError, refusalOf } from "./archive-error"
import { ARCHIVE_FILE, type ArchiveStore, type StoredArchive, type Upload } from "./archive-store"

/** Long enough for one call; a leaked URL is worth nothing soon after. */
const URL_SECONDS = 15 * 60
/** Ten thousand parts are the most a store takes: archives up to 160 GB. */
const PART_BYTES = 16 * 1024 * 1024
const PARTS_A_CALL = 4
/** Fresh URLs that are refused at once are a matter of clocks or keys, not of time. */
const RENEWALS_WITHOUT_PROGRESS = 3

export type S3Config = Extract<Config["archive"], { kind: "s3" }>
type Tuning = { url_seconds?: number; part_bytes?: number }

/**
 * Archives as objects of a bucket. The daemon moves the bytes itself, by URLs that run out; the keys never leave the server.
 * An archive's id is its key: however often an upload is repeated, there is one object.
 */
export function createS3Store(config: S3Config, { url_seconds = URL_SECONDS, part_bytes = PART_BYTES }: Tuning = {}): ArchiveStore {
  const { bucket } = config
  let loading: ReturnType<typeof loadSdk> | null = null
  const sdk = () => {
    loading ??= loadSdk(config)
    return loading
  }
  const prefix = config.prefix ? `${config.prefix}/` : ""
  const locationOf = (key: string) => `s3://${bucket}/${key}`
  const keyOf = (location: string): string => {
    if (!location.startsWith(`s3://${bucket}/`))
      throw new ArchiveError("archive_missing", `The archive is not kept in the bucket ${bucket}.`)
    return location.slice(`s3://${bucket}/`.length)
  }

  async function head(key: string): Promise<{ bytes: number; sha256: string | undefined } | null> {
    const { s3, client } = await sdk()
    try {
      const { ContentLength, Metadata } = await client.send(new s3.HeadObjectCommand({ Bucket: bucket, Key: key }))
      return { bytes: ContentLength ?? -1, sha256: Metadata?.sha256 }
    } catch (error) {
      if (isMissing(error)) return null
      throw unreachable(error)
    }
  }

  async function* openUploads(under: string) {
    const { s3, client } = await sdk()
    let marker: { KeyMarker?: string; UploadIdMarker?: string } = {}
    for (;;) {
      const page = await client.send(new s3.ListMultipartUploadsCommand({ Bucket: bucket, Prefix: under, ...marker }))
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) if (Key && UploadId) yield { key: Key, id: UploadId, begun: Initiated }
      if (!page.IsTruncated || !page.NextKeyMarker) return
      marker = { KeyMarker: page.NextKeyMarker, ...(page.NextUploadIdMarker ? { UploadIdMarker: page.NextUploadIdMarker } : {}) }
    }
  }
  async function abort(key: string, id: string): Promise<void> {
    const { s3, client } = await sdk()
    await client.send(new s3.AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: id })).catch((error) => {
      if (!isMissing(error)) throw error
    })
  }

  async function sendParts(key: string, id: string, { bytes, send }: Upload): Promise<UploadedPart[]> {
    const { s3, client, getSignedUrl } = await sdk()
    const count = Math.max(1, Math.ceil(bytes / part_bytes))
    const done = new Map<number, string>()
    let idle = 0
    while (done.size < count) {
      const wanted = Array.from({ length: count }, (_, i) => i + 1).filter((n) => !done.has(n))
      const parts = await Promise.all(
        wanted.slice(0, PARTS_A_CALL).map(async (n) => {
          const command = new s3.UploadPartCommand({ Bucket: bucket, Key: key, UploadId: id, PartNumber: n })
          const offset = (n - 1) * part_bytes
          const url = await getSignedUrl(client, command, { expiresIn: url_seconds })
          return { n, offset, length: Math.min(part_bytes, bytes - offset), url }
        }),
      )
      const before = done.size
      const sent = await send(parts).catch((error) => {
        // A store may close the line on the body of a request whose URL ran out: seen from the daemon that is no answer at all.
        const code = refusalOf(error)
        if (code !== "URL_EXPIRED" && (code !== "STORE_UNREACHABLE" || idle + 1 >= RENEWALS_WITHOUT_PROGRESS)) throw error
        return ((error as { body?: { parts?: UploadedPart[] } }).body?.parts ?? []) as UploadedPart[]
      })
      for (const { n, etag } of sent) done.set(n, etag)
      idle = done.size > before ? 0 : idle + 1
      if (idle >= RENEWALS_WITHOUT_PROGRESS) throw new ArchiveError("store_unreachable", "The store refuses the URLs it is asked with.")
    }
    return [...done].map(([n, etag]) => ({ n, etag })).sort((a, b) => a.n - b.n)
  }

  /** A lost answer is repeated by the client, and then finds no upload any more: whether the object is there decides. */
  async function complete(key: string, id: string, parts: UploadedPart[], { sha256, bytes }: Upload): Promise<void> {
    const { s3, client } = await sdk()
    try {
      await client.send(
        new s3.CompleteMultipartUploadCommand({
          ...{ Bucket: bucket, Key: key, UploadId: id, IfNoneMatch: "*" },
          MultipartUpload: { Parts: parts.map(({ n, etag }) => ({ PartNumber: n, ETag: etag })) },
        }),
      )
    } catch (error) {
      const there = await head(key)
      if (there?.sha256 !== sha256 || there.bytes !== bytes) throw unreachable(error)
    }
  }

  return {
    kind: "s3",
    folder: null,

    async upload(archive) {
      const { s3, client } = await sdk()
      const key = `${prefix}${archive.archive_id}${archive.suffix}`
      const there = await head(key)
      if (there?.sha256 === archive.sha256 && there.bytes === archive.bytes) return locationOf(key)
      let id: string | undefined
      try {
        // An earlier try under this id that nobody wrote down: its archive was of the same workspace, but is not this one.
        if (there) await client.send(new s3.DeleteObjectCommand({ Bucket: bucket, Key: key }))
        for await (const old of openUploads(key)) if (old.key === key) await abort(key, old.id)
        const Metadata = { sha256: archive.sha256, files: String(archive.files) }
        id = (await client.send(new s3.CreateMultipartUploadCommand({ Bucket: bucket, Key: key, Metadata }))).UploadId
        if (!id) throw new ArchiveError("store_unreachable", "The store began no upload.")
        await complete(key, id, await sendParts(key, id, archive), archive)
        return locationOf(key)
      } catch (error) {
        if (id) await abort(key, id).catch(() => undefined)
        throw error instanceof ArchiveError || refusalOf(error) ? error : unreachable(error)
      }
    },

    async source(location) {
      const { s3, client, getSignedUrl } = await sdk()
      const command = new s3.GetObjectCommand({ Bucket: bucket, Key: keyOf(location) })
      return { kind: "url", url: await getSignedUrl(client, command, { expiresIn: url_seconds }) }
    },

    /**
     * The object is there, has the right length, and was completed by an upload of this sha256, whose every part the store
     * checked against its digest. It is not read again: that the store keeps its bytes is the store's promise.
     */
    async verify({ location, sha256, bytes }: StoredArchive) {
      const there = await head(keyOf(location))
      if (!there) throw new ArchiveError("archive_missing", "The store has no such archive.")
      if (there.bytes !== bytes) throw new ArchiveError("checksum_mismatch", `The archive has ${there.bytes} bytes, not ${bytes}.`)
      if (there.sha256 !== sha256) throw new ArchiveError("checksum_mismatch", "The stored archive is another one.")
    },

    async remove(location) {
      const { s3, client } = await sdk()
      await client.send(new s3.DeleteObjectCommand({ Bucket: bucket, Key: keyOf(location) })).catch((error) => {
        if (!isMissing(error)) throw unreachable(error)
      })
    },

    async list() {
      const { s3, client } = await sdk()
      const found = []
      let token: string | undefined
      do {
        const page = await client
          .send(new s3.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ...(token ? { ContinuationToken: token } : {}) }))
          .catch((error) => Promise.reject(unreachable(error)))
        for (const { Key = "", Size = 0, LastModified } of page.Contents ?? []) {
          const archive_id = ARCHIVE_FILE.exec(Key.slice(prefix.length))?.[1]
          if (archive_id) found.push({ archive_id, location: locationOf(Key), bytes: Size, created_at: LastModified ?? new Date(0) })
        }
        token = page.IsTruncated ? page.NextContinuationToken : undefined
      } while (token)
      return found
    },

    async sweep(olderThanMs) {
      let removed = 0
      try {
        for await (const { key, id, begun } of openUploads(prefix)) {
          if (begun && Date.now() - begun.getTime() < olderThanMs) continue
          await abort(key, id)
          removed++
        }
      } catch (error) {
        throw unreachable(error)
      }
      return removed
    },
  }
}

/** Loaded when it is first used: it takes half a second and 20 MB, which a server with a folder would pay for nothing. */
async function loadSdk({ region, endpoint, credentials }: S3Config) {
  const [s3, { getSignedUrl }] = await Promise.all([import("@aws-sdk/client-s3"), import("@aws-sdk/s3-request-presigner")])
  const client = new s3.S3Client({
    region,
    ...(endpoint ? { endpoint, forcePathStyle: true } : {}),
    ...(credentials ? { credentials } : {}),
    // Otherwise a URL signed for an upload would carry the checksum of an empty body.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  })
  return { s3, client, getSignedUrl }
}

const statusOf = (error: unknown) => (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode
const isMissing = (error: unknown) => statusOf(error) === 404 && (error as Error).name !== "NoSuchBucket"

function unreachable(error: unknown): ArchiveError {
  if (error instanceof ArchiveError) return error
  const { name, message } = error as Error
  return new ArchiveError("store_unreachable", `The store could not be used: ${name} ${message}`, { cause: error })
}
