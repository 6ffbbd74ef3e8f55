import type { WebglAddon } from "@xterm/addon-webgl"
import type { Terminal } from "@xterm/xterm"
import { writeStored } from "@/lib/client/stored"
import { onTheme } from "@/lib/client/theme"
import { type StreamState, WorkerStream } from "@/lib/client/worker-stream"
import { controlOf } from "./control-keys"
import { openScreen, pixelsAgree, SCREEN_READER_KEY, type Screen, themeOf } from "./xterm-screen"

export type TerminalView = {
  /** `loading`: the terminal's own code is on its way. */
  stream: StreamState | { phase: "loading" }
  /** Something was written, or rang, while nobody looked. */
  unseen: boolean
  rang: boolean
  title: string | null
  atTop: boolean
  searching: boolean
  /** The next key is pressed with Ctrl: keyboards of phones have none. */
  ctrl: boolean
  screenReader: boolean
}

/** Fitting while a divider is dragged would ask the program to redraw for every pixel. */
const FIT_AFTER_MS = 60

/**
 * One terminal of this page: what is drawn, and the stream behind it. It outlives the panes that show it, so that a hidden one goes on
 * and a split moves it as it is.
 */
export class LiveTerminal {
  readonly host: HTMLDivElement
  private view: TerminalView = {
    ...{ stream: { phase: "loading" }, unseen: false, rang: false, title: null },
    ...{ atTop: false, searching: false, ctrl: false, screenReader: false },
  }
  private readonly listeners = new Set<() => void>()
  private screen: Screen | null = null
  private stream: WorkerStream | null = null
  private webgl: WebglAddon | null = null
  private slot: HTMLElement | null = null
  private fitting: ReturnType<typeof setTimeout> | undefined
  private redrawing = false
  private disposed = false
  private wanted: string | null = null
  private readonly resized = new ResizeObserver(() => this.fitSoon())
  private readonly offTheme = onTheme(() => {
    if (this.screen) this.screen.terminal.options.theme = themeOf()
  })

  constructor(
    readonly sessionId: string,
    readonly workerId: string,
    private readonly actions: { leave: () => void },
  ) {
    this.host = document.createElement("div")
    this.host.className = "absolute inset-0 overflow-hidden"
    // The page's own keys must not act on what is typed into a terminal.
    this.host.addEventListener("keydown", (event) => event.stopPropagation())
    for (const kind of ["wheel", "keyup", "touchmove"]) {
      this.host.addEventListener(kind, () => requestAnimationFrame(() => this.lookAtScroll()), { passive: true })
    }
  }

  readonly get = (): TerminalView => this.view
  readonly listen = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
  private set(change: Partial<TerminalView>): void {
    this.view = { ...this.view, ...change }
    for (const listener of this.listeners) listener()
  }

  show(slot: HTMLElement): void {
    this.slot = slot
    slot.append(this.host)
    this.resized.observe(slot)
    this.set({ unseen: false, rang: false })
    if (this.screen) {
      this.fit()
      void this.accelerate()
    } else void this.load()
  }
  hide(slot: HTMLElement): void {
    if (this.slot !== slot) return
    this.slot = null
    this.resized.disconnect()
    this.host.remove()
    // Browsers give a page few of these; those that look keep theirs.
    this.webgl?.dispose()
    this.webgl = null
    if (this.screen) this.screen.terminal.options.rescaleOverlappingGlyphs = false
  }

  private loading: Promise<void> | null = null
  private load(): Promise<void> {
    this.loading ??= openScreen(this.host).then(
      (screen) => this.begin(screen),
      () => {
        this.loading = null
        this.set({ stream: { phase: "failed", why: "The terminal could not be loaded." } })
      },
    )
    return this.loading
  }

  private begin(screen: Screen): void {
    if (this.disposed) return screen.dispose()
    this.screen = screen
    const { terminal } = screen
    screen.fit.fit()
    this.set({ screenReader: terminal.options.screenReaderMode === true })
    terminal.attachCustomKeyEventHandler((event) => this.onKey(event, terminal))
    terminal.onData((data) => this.type(data))
    terminal.onBinary((data) => this.stream?.type(Uint8Array.from(data, (letter) => letter.charCodeAt(0))))
    terminal.onResize((size) => !this.redrawing && this.slot && this.stream?.resize(size))
    terminal.onTitleChange((title) => this.set({ title: title || null }))
    terminal.onBell(() => !this.slot && this.set({ rang: true }))
    terminal.onScroll(() => this.lookAtScroll())
    this.stream = new WorkerStream(this.sessionId, this.workerId, {
      size: () => ({ cols: terminal.cols, rows: terminal.rows }),
      redraw: ({ cols, rows, snapshot }) => {
        this.redrawing = true
        terminal.reset()
        terminal.resize(cols, rows)
        // What a browser's socket is given is a bare buffer.
        terminal.write(new Uint8Array(snapshot ?? []), () => {
          this.redrawing = false
          this.fit()
        })
      },
      draw: (data, drawn) => {
        terminal.write(data, drawn)
        if ((!this.slot || document.hidden) && !this.view.unseen) this.set({ unseen: true })
      },
      changed: (stream) => this.streamChanged(stream),
    })
    void this.accelerate()
  }

  private streamChanged(stream: StreamState): void {
    this.set({ stream })
    if (stream.phase !== "live" || this.wanted === null) return
    const line = this.wanted
    this.wanted = null
    this.stream?.type(line)
  }

  /** Types a line as soon as there is a process to take it. */
  run(command: string): void {
    const line = `${command}\r`
    if (this.stream?.state.phase === "live") return this.stream.type(line)
    this.wanted = line
    if (this.stream?.state.phase === "ended") this.restart()
  }

  /** Where a process ended, another one is started. */
  readonly restart = (): void => this.stream?.attach()
  readonly retry = (): void => {
    if (this.stream) this.stream.attach()
    else void this.load()
  }
  /** Restarted by a person: one that runs hears of it by itself. */
  readonly retryEnded = (): void => {
    if (this.view.stream.phase === "ended") this.retry()
  }
  focus(): void {
    this.screen?.terminal.focus()
  }
  get position(): number | null {
    return this.stream?.position ?? null
  }

  private type(data: string): void {
    const { phase } = this.view.stream
    if (phase === "ended" && (data === "\r" || data === "\n")) return this.restart()
    const text = this.view.ctrl ? (controlOf(data) ?? data) : data
    if (this.view.ctrl) this.set({ ctrl: false })
    this.stream?.type(text)
  }
  /** A key of the bar above a phone's keyboard. */
  press(key: string): void {
    this.type(key)
    this.focus()
  }
  toggleCtrl(): void {
    this.set({ ctrl: !this.view.ctrl })
    this.focus()
  }

  private onKey(event: KeyboardEvent, terminal: Terminal): boolean {
    if (event.type !== "keydown" || !event.ctrlKey || event.altKey || event.metaKey) return true
    const key = event.key.toLowerCase()
    if (key === "c" && (event.shiftKey || terminal.hasSelection())) {
      event.preventDefault()
      this.copy(terminal)
      return false
    }
    if (!event.shiftKey) return true
    // The browser's own paste follows, and asks nobody for a permission.
    if (key === "v") return false
    const acts: Record<string, () => void> = { f: () => this.toggleSearch(true), arrowup: this.actions.leave }
    const act = acts[key]
    if (!act) return true
    event.preventDefault()
    act()
    return false
  }
  private copy(terminal: Terminal): void {
    const text = terminal.getSelection()
    if (text === "") return
    void navigator.clipboard?.writeText(text).catch(() => {})
    terminal.clearSelection()
  }

  toggleSearch(searching: boolean): void {
    if (!searching) {
      this.screen?.search.clearDecorations()
      this.focus()
    }
    this.set({ searching })
  }
  find(text: string, towards: "older" | "newer"): boolean {
    const style = getComputedStyle(document.documentElement)
    const decorations = {
      matchOverviewRuler: style.getPropertyValue("--need"),
      activeMatchColorOverviewRuler: style.getPropertyValue("--alive"),
      ...markColours(),
    }
    const { search } = this.screen ?? {}
    return (towards === "older" ? search?.findPrevious(text, { decorations }) : search?.findNext(text, { decorations })) ?? false
  }

  setScreenReader(on: boolean): void {
    writeStored(SCREEN_READER_KEY, on ? "on" : null)
    if (this.screen) this.screen.terminal.options.screenReaderMode = on
    this.set({ screenReader: on })
  }

  private lookAtScroll(): void {
    const buffer = this.screen?.terminal.buffer.active
    const atTop = buffer?.type === "normal" && buffer.baseY > 0 && buffer.viewportY === 0
    if (atTop !== this.view.atTop && buffer) this.set({ atTop })
  }

  private fitSoon(): void {
    clearTimeout(this.fitting)
    this.fitting = setTimeout(() => this.fit(), FIT_AFTER_MS)
  }
  private fit(): void {
    if (!this.slot || this.redrawing || !this.screen || this.slot.clientWidth === 0) return
    this.screen.fit.fit()
  }

  /** Drawn by the graphics card where there is one; by the browser otherwise, and when the card lets go. */
  private async accelerate(): Promise<void> {
    const [{ WebglAddon }, agree] = await Promise.all([import("@xterm/addon-webgl"), pixelsAgree(this.host)])
    if (!agree) return
    if (this.webgl || !this.slot || !this.screen || this.disposed) return
    try {
      const addon = new WebglAddon()
      addon.onContextLoss(() => {
        addon.dispose()
        if (this.webgl === addon) this.webgl = null
      })
      this.screen.terminal.loadAddon(addon)
      this.webgl = addon
      // Any change of such an option lays the new renderer out; without one it keeps the size of no screen on dense displays.
      this.screen.terminal.options.rescaleOverlappingGlyphs = true
    } catch {
      this.webgl = null
    }
  }

  dispose(): void {
    this.disposed = true
    clearTimeout(this.fitting)
    this.offTheme()
    this.resized.disconnect()
    this.stream?.dispose()
    this.host.remove()
    this.screen?.dispose()
  }
}

/** The search's marks want plain colours. */
function markColours() {
  const { cursor, yellow } = themeOf()
  return { matchBackground: `${yellow}`, activeMatchBackground: `${cursor}` }
}
