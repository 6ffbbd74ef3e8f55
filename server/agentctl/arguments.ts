import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { SPOOL_LIMITS, type SpoolLimits } from "./spool"

export interface Arguments {
  dataDir: string
  build: string
  nativeBinding: string | undefined
  orphanHours: number
  /** Of agents, terminals and git. */
  umask: number | undefined
  limits: SpoolLimits
}

export function parseArguments(argv: string[]): Arguments {
  const { values } = parseArgs({
    args: argv,
    options: {
      "data-dir": { type: "string" },
      build: { type: "string", default: "dev" },
      "native-binding": { type: "string" },
      "orphan-hours": { type: "string", default: "72" },
      umask: { type: "string" },
      "spool-limit-bytes": { type: "string" },
      "spool-cut-bytes": { type: "string" },
    },
  })
  if (!values["data-dir"]) throw new Error("--data-dir is missing")
  const orphanHours = Number(values["orphan-hours"])
  if (!(orphanHours > 0)) throw new Error("--orphan-hours is a number above 0")
  if (values.umask !== undefined && !/^[0-7]{1,3}$/.test(values.umask)) throw new Error("--umask is an octal number")
  return {
    dataDir: resolve(values["data-dir"]),
    build: values.build,
    nativeBinding: values["native-binding"],
    orphanHours,
    umask: values.umask === undefined ? undefined : Number.parseInt(values.umask, 8),
    limits: {
      ...SPOOL_LIMITS,
      ...(values["spool-limit-bytes"] ? { unackedBytes: Number(values["spool-limit-bytes"]) } : {}),
      ...(values["spool-cut-bytes"] ? { cutBytes: Number(values["spool-cut-bytes"]) } : {}),
    },
  }
}
