/** In the order they are looked for: most browsers name others as well, for compatibility. */
const BROWSERS: readonly [RegExp, string][] = [
  [/\bEdg(?:e|A|iOS)?\/(\d+)/, "Edge"],
  [/\b(?:OPR|Opera)\/(\d+)/, "Opera"],
  [/\bSamsungBrowser\/(\d+)/, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\/(\d+)/, "Firefox"],
  [/\b(?:HeadlessChrome|Chromium|Chrome|CriOS)\/(\d+)/, "Chrome"],
  [/\bVersion\/(\d+)[\d.]*(?: Mobile\/\w+)? Safari\//, "Safari"],
]
/** Android names Linux, and iPads name Mac OS X. */
const SYSTEMS: readonly [RegExp, string][] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bLinux\b|\bX11\b/, "Linux"],
]
const LONGEST = 60

/** "Firefox 128 on Linux"; what is none of the known browsers by the first of its own words. */
export function browserName(userAgent: string): string {
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1]
  for (const [pattern, name] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1]
    if (version) return [`${name} ${version}`, system].filter(Boolean).join(" on ")
  }
  const first = userAgent.trim().split(/\s+/)[0] ?? ""
  if (first === "" || first.startsWith("Mozilla/")) return system ? `Unknown browser on ${system}` : "Unknown browser"
  return first.replace("/", " ").slice(0, LONGEST)
}
