import { reasonOf } from '../../domain/errors.ts'
import type { LiveLook, LiveReader } from '../../ports/live/live.ts'
import type { Runtime } from '../../ports/runtime.ts'
import { AWAY, changedEvent, figuresEvent } from './event-text.ts'

/** Between the starts of two rounds: changes of one round are one event. */
export const ROUND_MS = 1_000
/** With more teams than in one second, rounds are further apart, so that the store is asked no more often. */
const MS_PER_TEAM = 20

/** Takes the text of events. */
type Listener = (text: string) => void

interface Watched {
  readonly listeners: Set<Listener>
  look: LiveLook | null
  /** The text that said the last figures; '' = none. */
  figures: string
  isAway: boolean
}

export interface TeamWatchParts extends Runtime {
  readonly reader: LiveReader
}

/**
 * Looks at the teams whose pages are open, in rounds, once for all pages of a team and not at all while there is none.
 * Owns what was seen of each, and one timer. `close` waits for the look in progress; nothing is looked at afterwards.
 */
export class TeamWatch {
  readonly #parts: TeamWatchParts
  readonly #teams = new Map<string, Watched>()
  #isRunning = false
  #isClosed = false
  /** The last look that was begun. */
  #look: Promise<void> = Promise.resolve()
  #cancel: () => void = () => undefined

  constructor(parts: TeamWatchParts) {
    this.#parts = parts
  }

  /** Tells the listener at once what is known, then what changes. The returned function ends that. */
  watch(team: string, listener: Listener): () => void {
    const watched = this.#teams.get(team) ?? {
      ...{ listeners: new Set<Listener>(), look: null, figures: '', isAway: false },
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
    await this.#look
  }

  #goRound(): void {
    this.#look = this.#round()
  }

  /** Never throws. */
  async #round(): Promise<void> {
    const { clock } = this.#parts
    const startedAtMs = clock.monotonicMs()
    await this.#lookAtAll([...this.#teams])
    if (this.#teams.size === 0 || this.#isClosed) {
      this.#isRunning = false
      return
    }
    const roundMs = Math.max(ROUND_MS, this.#teams.size * MS_PER_TEAM)
    const waitMs = Math.max(0, roundMs - (clock.monotonicMs() - startedAtMs))
    this.#cancel = clock.after(waitMs, () => this.#goRound())
  }

  async #lookAtAll(teams: ReadonlyArray<readonly [team: string, watched: Watched]>): Promise<void> {
    try {
      const looks = await this.#parts.reader.look(teams.map(([team, { look }]) => ({ team, before: look })))
      for (const [at, [, watched]] of teams.entries()) {
        const look = looks[at]
        if (look !== undefined) tell(watched, look)
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

/** After a fault the figures are said again, which tells that it is over. */
function tell(watched: Watched, look: LiveLook): void {
  const figures = figuresEvent(look.figures)
  const text = [
    figures === watched.figures && !watched.isAway ? '' : figures,
    look.changed.size === 0 ? '' : changedEvent(look.changed),
  ].join('')
  Object.assign(watched, { look, figures, isAway: false })
  if (text !== '') say(watched, text)
}

function say({ listeners }: Watched, text: string): void {
  for (const listener of listeners) listener(text)
}
