export { type Attachments, createAttachments, sha256 } from "./attachments"
export { fileName, mimeType } from "./recognise"
export { attachmentsOf, findWanted, readContent, requireFree, taken } from "./take"
