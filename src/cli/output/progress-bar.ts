import type { OutputStream } from './output-stream.ts'

const WIDTH = 30
const REDRAW_MS = 100
/** Moves to the start of the line and erases it. */
const ERASE = '\r\u001b[2K'

/** Shows the progress of long work on a terminal, and writes nothing anywhere else. */
export class ProgressBar {
  readonly #stream: OutputStream
  readonly #nowMs: () => number
  #drawnAtMs = Number.NEGATIVE_INFINITY
  #isDrawn = false

  constructor(stream: OutputStream, nowMs: () => number) {
    this.#stream = stream
    this.#nowMs = nowMs
  }

  /** @param total null = it is not known yet */
  update(done: number, total: number | null, note = ''): void {
    const nowMs = this.#nowMs()
    if (this.#stream.isTerminal !== true || nowMs - this.#drawnAtMs < REDRAW_MS) return
    this.#drawnAtMs = nowMs
    this.#isDrawn = true
    this.#stream.write(`${ERASE}${barText(done, total)}${note === '' ? '' : `  ${note}`}`)
  }

  /** Erases the bar. May be called twice. */
  end(): void {
    if (this.#isDrawn) this.#stream.write(ERASE)
    this.#isDrawn = false
  }
}

function barText(done: number, total: number | null): string {
  if (total === null) return `${done}`
  const share = total === 0 ? 1 : Math.min(done / total, 1)
  const full = Math.floor(share * WIDTH)
  const bar = `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)}`
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${done}/${total}`
}
