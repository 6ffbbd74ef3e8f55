type Lock = { packages?: Record<string, { resolved?: string; os?: string[]; cpu?: string[]; libc?: string[]; inBundle?: boolean }> }

const allows = (list: string[] | undefined, value: string): boolean => {
  if (!list || list.length === 0) return true
  if (list.includes(`!${value}`)) return false
  return list.includes(value) || list.every((entry) => entry.startsWith("!"))
}

/** How many packages npm has to fetch here: what the lock lists, without what is for other machines. */
export function packagesToFetch(lock: Lock, machine: { platform: string; arch: string }): number {
  const entries = Object.entries(lock.packages ?? {}).filter(([path, entry]) => path !== "" && entry.resolved && !entry.inBundle)
  return entries.filter(([, { os, cpu }]) => allows(os, machine.platform) && allows(cpu, machine.arch)).length
}

/** Packages that npm says it has got, from the network or from its cache, in what it has printed so far. */
export class FetchedPackages {
  private readonly seen = new Set<string>()
  private rest = ""

  get count(): number {
    return this.seen.size
  }

  take(text: string): void {
    const lines = (this.rest + text).split("\n")
    this.rest = lines.pop() ?? ""
    for (const line of lines) {
      const tarball = /\bhttp (?:fetch|cache)\b.*?(\S+\.tgz)/.exec(line)?.[1]
      if (tarball) this.seen.add(tarball)
    }
  }
}
