/** The faults that hit executors, by virtual time. Only a fault may explain an otherwise wrong result. */
export interface Fault {
  readonly kind: 'kill' | 'stop' | 'freeze' | 'cut' | 'away' | 'outage' | 'clock'
  /** Name of the process; null = all. */
  readonly process: string | null
  readonly fromMs: number
  readonly toMs: number
}

/**
 * An executor works for 13 s after its last beat, and the next beat is due 3 s after that one. So a silence of 10 s is
 * too long, minus the time that slow and lost messages and retries take.
 */
const FATAL_SILENCE_MS = 8_000
const FATAL_SILENCE_ON_BAD_NETWORK_MS = 1_000
/** A contact shorter than this between two breaks joins them into one. */
const GAP_MS = 3_000
/** Kinds that matter only when they last. */
const SILENCES: ReadonlySet<Fault['kind']> = new Set(['cut', 'away', 'outage', 'freeze'])
/** Consecutive breaks of a connection that can cost a lease. */
const SHAKEN_BREAKS = 4
const SHAKEN_MS = 6_000
/** A clock set forward by less than 10 s shortens leases until every executor has beaten again. */
const CLOCK_AFTER_MS = 20_000

export class FaultLog {
  readonly #faults: Fault[] = []
  readonly #isNetworkBad: boolean
  readonly #breaks = new Map<string, number[]>()

  constructor(isNetworkBad: boolean) {
    this.#isNetworkBad = isNetworkBad
  }

  add(fault: Fault): void {
    this.#faults.push(fault)
  }

  get isEmpty(): boolean {
    return this.#faults.length === 0
  }

  /** When the last fault with an end of its own has ended. */
  get overAtMs(): number {
    return Math.max(0, ...this.#faults.map(({ toMs }) => (toMs === Infinity ? 0 : toMs)))
  }

  get count(): number {
    return this.#faults.length
  }

  get kills(): number {
    return this.#faults.filter(({ kind }) => kind === 'kill').length
  }

  noteBreak(process: string, atMs: number): void {
    const times = this.#breaks.get(process) ?? []
    times.push(atMs)
    this.#breaks.set(process, times)
  }

  /** Whether the connection broke so often that several beats in a row may have been lost. */
  #isShaken(process: string, fromMs: number, toMs: number): boolean {
    const times = (this.#breaks.get(process) ?? []).filter((ms) => ms >= fromMs && ms <= toMs)
    return times.some((ms, i) => (times[i + SHAKEN_BREAKS - 1] ?? Infinity) - ms < SHAKEN_MS)
  }

  /** Whether the process may have lost its jobs between these times. */
  mayHaveLost(process: string, fromMs: number, toMs: number): boolean {
    const faults = this.#of(process).filter((fault) => touches(fault, fromMs, toMs))
    if (faults.some(({ kind }) => kind === 'kill' || kind === 'stop')) return true
    const steps = faults.filter(({ kind }) => kind === 'clock').length
    const isShortened = this.#isNetworkBad || faults.some(({ kind }) => SILENCES.has(kind))
    if (steps > 1 || (steps === 1 && isShortened)) return true
    if (this.#isShaken(process, fromMs, toMs)) return true
    return this.#silences(process).some((silence) => this.#isFatal(silence) && touches(silence, fromMs, toMs))
  }

  #isFatal(silence: { fromMs: number; toMs: number }): boolean {
    const fatalMs = this.#isNetworkBad ? FATAL_SILENCE_ON_BAD_NETWORK_MS : FATAL_SILENCE_MS
    return silence.toMs - silence.fromMs > fatalMs
  }

  /** Whether a call of the process may be on the wire although its slot was freed, because the process could not know. */
  mayOverlap(process: string, fromMs: number, toMs: number): boolean {
    return this.#of(process).some(
      (fault) => (fault.kind === 'freeze' || fault.kind === 'clock') && touches(fault, fromMs - 15_000, toMs),
    )
  }

  #of(process: string): Fault[] {
    return this.#faults
      .filter((fault) => fault.process === null || fault.process === process)
      .map((fault) => (fault.kind === 'clock' ? { ...fault, toMs: fault.toMs + CLOCK_AFTER_MS } : fault))
  }

  /** Periods without contact between the process and Redis. Those close to each other are joined. */
  #silences(process: string): Array<{ fromMs: number; toMs: number }> {
    const found: Array<{ fromMs: number; toMs: number }> = []
    const faults = this.#of(process).filter((fault) => SILENCES.has(fault.kind))
    for (const { fromMs, toMs } of faults.sort((a, b) => a.fromMs - b.fromMs)) {
      const last = found.at(-1)
      if (last !== undefined && fromMs <= last.toMs + GAP_MS) last.toMs = Math.max(last.toMs, toMs)
      else found.push({ fromMs, toMs })
    }
    return found
  }
}

/** The effect of a fault shows a little later. */
function touches(fault: { fromMs: number; toMs: number }, fromMs: number, toMs: number): boolean {
  return fault.fromMs <= toMs && fault.toMs + 6_000 >= fromMs
}
