/**
 * Files come from agents and strangers, and are answered under this server's own address: a page or a drawing with scripts in it
 * would act as the person who looks at it. So only pictures made of pixels keep their type, and text is plain.
 */
const PICTURES: Record<string, string> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  bmp: "image/bmp",
  ico: "image/x-icon",
}

export function fileHeaders(path: string, download: boolean): Record<string, string> {
  const name = path.split("/").at(-1) ?? "file"
  const picture = PICTURES[/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? ""]
  return {
    "content-type": download ? "application/octet-stream" : (picture ?? "text/plain; charset=utf-8"),
    "content-disposition": `${download ? "attachment" : "inline"}; filename*=UTF-8''${encodeName(name)}`,
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-cache",
  }
}

const encodeName = (name: string) =>
  encodeURIComponent(name).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
