import { reasonOf } from '../../domain/errors.ts'
import type { LiveReading, LiveReader } from '../../ports/live/live.ts'
import type { Runtime } from '../../ports/runtime.ts'
import { AWAY, changedEvent, figuresEvent } from './event-text.ts'

/** Time between the starts of two rounds: changes of one round are one event. */
export const ROUND_MS = 1_000
/** Rounds take this long a team, if that is more than a second, so that the store is asked no more often. */
const MS_PER_TEAM = 20

/** Takes the text of events. */
type Listener = (text: string) => void

interface Watched {
  readonly listeners: Set<Listener>
  reading: LiveReading | null
  /** The text that said the last figures; '' = none. */
  figures: string
  isAway: boolean
}

export interface TeamWatchParts extends Runtime {
  readonly reader: LiveReader
}

/**
 * Reads the state of teams whose pages are open, in rounds: once for all pages of a team, and not at all while none is
 * open. Owns the last reading of each team and one timer. `close` waits for the round in progress, after which nothing
 * is read.
 */
export class TeamWatch {
  readonly #parts: TeamWatchParts
  readonly #teams = new Map<string, Watched>()
  #isRunning = false
  #isClosed = false
  /** The round in progress, or the last one. */
  #round: Promise<void> = Promise.resolve()
  #cancel: () => void = () => undefined

  constructor(parts: TeamWatchParts) {
    this.#parts = parts
  }

  /** Tells the listener at once what is known, then what changes. The returned function ends that. */
  watch(team: string, listener: Listener): () => void {
    const watched = this.#teams.get(team) ?? {
      listeners: new Set<Listener>(),
      reading: null,
      figures: '',
      isAway: false,
    }
    this.#teams.set(team, watched)
    watched.listeners.add(listener)
    if (watched.figures !== '') listener(watched.figures)
    if (watched.isAway) listener(AWAY)
    if (!this.#isRunning && !this.#isClosed) {
      this.#isRunning = true
      this.#goRound()
    }
    return () => {
      watched.listeners.delete(listener)
      if (watched.listeners.size === 0 && this.#teams.get(team) === watched) this.#teams.delete(team)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancel()
    await this.#round
  }

  #goRound(): void {
    this.#round = this.#readAndTell()
  }

  /** Never throws. */
  async #readAndTell(): Promise<void> {
    const { clock } = this.#parts
    const startedAtMs = clock.monotonicMs()
    await this.#readAll([...this.#teams])
    if (this.#teams.size === 0 || this.#isClosed) {
      this.#isRunning = false
      return
    }
    const roundMs = Math.max(ROUND_MS, this.#teams.size * MS_PER_TEAM)
    const waitMs = Math.max(0, roundMs - (clock.monotonicMs() - startedAtMs))
    this.#cancel = clock.after(waitMs, () => this.#goRound())
  }

  async #readAll(teams: ReadonlyArray<readonly [team: string, watched: Watched]>): Promise<void> {
    try {
      const asked = teams.map(([team, { reading: before }]) => ({ team, before }))
      const readings = await this.#parts.reader.read(asked)
      for (const [at, [, watched]] of teams.entries()) {
        const reading = readings[at]
        if (reading !== undefined) tell(watched, reading)
      }
    } catch (fault) {
      this.#parts.logger.debug('Open pages cannot be told what changes', { reason: reasonOf(fault) })
      for (const [, watched] of teams) {
        if (!watched.isAway) say(watched, AWAY)
        watched.isAway = true
      }
    }
  }
}

/** Sends what has changed. After a fault the figures are sent in any case, which tells that it is over. */
function tell(watched: Watched, reading: LiveReading): void {
  const figures = figuresEvent(reading.figures)
  const text = [
    figures === watched.figures && !watched.isAway ? '' : figures,
    reading.changed.size === 0 ? '' : changedEvent(reading.changed),
  ].join('')
  Object.assign(watched, { reading, figures, isAway: false })
  if (text !== '') say(watched, text)
}

function say({ listeners }: Watched, text: string): void {
  for (const listener of listeners) listener(text)
}
