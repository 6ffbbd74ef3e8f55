import type { FitAddon } from "@xterm/addon-fit"
import type { SearchAddon } from "@xterm/addon-search"
import type { ITheme, Terminal } from "@xterm/xterm"
import { readStored } from "@/lib/client/stored"

const FONT_SIZE_PX = 13
/** Lines a page keeps; what is older comes from the server when it is asked for. */
const SCROLLBACK_LINES = 10_000
export const SCREEN_READER_KEY = "rewake.terminal.screen-reader"

export type Screen = { terminal: Terminal; fit: FitAddon; search: SearchAddon; dispose: () => void }

/** Loaded by the first terminal of the page, not with the page. */
async function loadXterm() {
  const [xterm, fit, search, links] = await Promise.all([
    import("@xterm/xterm"),
    import("@xterm/addon-fit"),
    import("@xterm/addon-search"),
    import("@xterm/addon-web-links"),
    // Measured before it is there, every cell would have the width of another font.
    document.fonts.load(`${FONT_SIZE_PX}px "JetBrains Mono Variable"`).catch(() => undefined),
  ])
  return { ...xterm, ...fit, ...search, ...links }
}

/** A terminal in `host`, in the page's colours. It answers no program's questions: the daemon does, once for all viewers. */
export async function openScreen(host: HTMLElement): Promise<Screen> {
  const { Terminal, FitAddon, SearchAddon, WebLinksAddon } = await loadXterm()
  const style = getComputedStyle(document.documentElement)
  const terminal = new Terminal({
    allowProposedApi: true,
    cursorInactiveStyle: "outline",
    fontFamily: style.getPropertyValue("--font-mono") || "monospace",
    fontSize: FONT_SIZE_PX,
    lineHeight: 1.25,
    linkHandler: { activate: (_, uri) => follow(uri) },
    macOptionIsMeta: true,
    minimumContrastRatio: 4.5,
    screenReaderMode: readStored(SCREEN_READER_KEY) === "on",
    scrollback: SCROLLBACK_LINES,
    theme: themeOf(),
  })
  const fit = new FitAddon()
  const search = new SearchAddon({ highlightLimit: 2000 })
  for (const addon of [fit, search, new WebLinksAddon((_, uri) => follow(uri))]) terminal.loadAddon(addon)
  leaveQuestions(terminal)
  terminal.open(host)
  return { terminal, fit, search, dispose: () => terminal.dispose() }
}

/** Only by a click, and only to the web: the page it leads to must not reach back. */
function follow(uri: string): void {
  if (/^https?:/i.test(uri)) window.open(uri, "_blank", "noopener,noreferrer")
}

/** Device attributes, cursor position, modes, colours. Answered here they would arrive once per viewer, and again with every replay. */
function leaveQuestions({ parser }: Terminal): void {
  const silent = () => true
  for (const id of [
    ...[{ final: "c" }, { prefix: ">", final: "c" }, { prefix: "=", final: "c" }],
    ...[{ final: "n" }, { prefix: "?", final: "n" }, { prefix: ">", final: "q" }, { final: "t" }],
    ...[
      { intermediates: "$", final: "p" },
      { prefix: "?", intermediates: "$", final: "p" },
    ],
  ]) {
    parser.registerCsiHandler(id, silent)
  }
  parser.registerDcsHandler({ intermediates: "$", final: "q" }, silent)
  for (const colour of [4, 10, 11, 12]) parser.registerOscHandler(colour, (data) => data.includes("?"))
}

const ANSI = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const

/** The page's own colours, as they are under the theme that is shown now. */
export function themeOf(): ITheme {
  const style = getComputedStyle(document.documentElement)
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true })
  const colour = (name: string): string => {
    if (!canvas) return "#000000"
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = style.getPropertyValue(name)
    canvas.fillRect(0, 0, 1, 1)
    const [red = 0, green = 0, blue = 0] = canvas.getImageData(0, 0, 1, 1).data
    return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")}`
  }
  const bright = (name: (typeof ANSI)[number]) => `bright${name.charAt(0).toUpperCase()}${name.slice(1)}`
  return {
    background: colour("--bg"),
    foreground: colour("--text"),
    cursor: colour("--alive"),
    cursorAccent: colour("--bg"),
    selectionBackground: `${colour("--alive")}55`,
    scrollbarSliderBackground: `${colour("--text-3")}40`,
    scrollbarSliderHoverBackground: `${colour("--text-3")}70`,
    scrollbarSliderActiveBackground: `${colour("--text-3")}90`,
    ...Object.fromEntries(
      ANSI.flatMap((name) => [
        [name, colour(`--ansi-${name}`)],
        [bright(name), colour(`--ansi-bright-${name}`)],
      ]),
    ),
  }
}

/**
 * Whether the browser counts an element's pixels as it counts the page's. On an emulated display it may not, and a canvas sized by
 * such a count would have its letters drawn at the wrong size.
 */
export function pixelsAgree(host: HTMLElement): Promise<boolean> {
  const probe = document.createElement("div")
  Object.assign(probe.style, { position: "absolute", width: "100px", height: "1px", visibility: "hidden" })
  host.append(probe)
  return new Promise<boolean>((resolve) => {
    const observer = new ResizeObserver(([entry]) => {
      observer.disconnect()
      probe.remove()
      const counted = entry?.devicePixelContentBoxSize?.[0]?.inlineSize
      resolve(counted === undefined || Math.abs(counted - 100 * devicePixelRatio) < devicePixelRatio + 1)
    })
    try {
      observer.observe(probe, { box: "device-pixel-content-box" })
    } catch {
      probe.remove()
      resolve(true)
    }
  })
}
