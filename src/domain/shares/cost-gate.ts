/** Costly requests of one team that a process has under way or waiting; one more is refused. */
export const COSTLY_PER_TEAM_MAX = 32
/** Costly requests of all teams together. A team that has none is let in all the same. */
const COSTLY_MAX = 512
/** A slice ends at the first place after this where its work can stop. Up to there it takes as long again at most. */
const SLICE_MS = 1
/** Steps that wait for Redis at once. */
const STEPS_AT_ONCE = 2

/** Work that stops now and then, so that others can go on. */
export type SlicedWork<T> = Generator<undefined, T>

interface TurnClock {
  monotonicMs(): number
  /** Calls `run` after everything that is ready now. */
  nextTurn(run: () => void): void
}

interface Turn {
  /** Resolves when others may go on; undefined = that is at once. */
  run(): Promise<void> | undefined
  readonly isStep: boolean
}

/** The turns of one team. */
interface Lane {
  readonly waiting: Turn[]
  isRunning: boolean
}

/**
 * Shares what costly requests take, the event loop and Redis, among the requests of one process. Each is worked off in slices, or in
 * steps that wait for Redis. A team has one of them at a time, teams take turns, and so do the requests of a team. Before each, all
 * that is ready has run: pushes never wait for more than one slice.
 */
export class CostGate {
  readonly #clock: TurnClock
  /** Teams with turns that wait or run; the one whose turn is next comes first. */
  readonly #lanes = new Map<string, Lane>()
  readonly #visits = new Map<string, number>()
  #visitCount = 0
  #steps = 0
  /** Whether a turn has begun and what was ready by then has not run yet. */
  #isPausing = false

  constructor(clock: TurnClock) {
    this.#clock = clock
  }

  /** null when the team, or all teams, have too many requests here. Otherwise the visit must end with `leave`. */
  enter(team: string): Visit | null {
    const own = this.#visits.get(team) ?? 0
    const isFull = own >= COSTLY_PER_TEAM_MAX || (own > 0 && this.#visitCount >= COSTLY_MAX)
    if (isFull) return null
    this.#visits.set(team, own + 1)
    this.#visitCount += 1
    return this.#visit(team, () => this.#countOut(team))
  }

  /** Lets a request in without counting it, as it is bounded elsewhere: bodies have a budget of bytes. */
  admit(team: string): Visit {
    return this.#visit(team, () => undefined)
  }

  #visit(team: string, countOut: () => void): Visit {
    return new Visit({
      clock: this.#clock,
      request: (turn) => this.#request(team, turn),
      leave: (turn) => {
        countOut()
        if (turn !== null) this.#withdraw(team, turn)
      },
    })
  }

  #countOut(team: string): void {
    const left = (this.#visits.get(team) ?? 1) - 1
    if (left === 0) this.#visits.delete(team)
    else this.#visits.set(team, left)
    this.#visitCount -= 1
  }

  #request(team: string, turn: Turn): void {
    const lane = this.#lanes.get(team)
    if (lane === undefined) this.#lanes.set(team, { waiting: [turn], isRunning: false })
    else lane.waiting.push(turn)
    if (!this.#isPausing) this.#passOn()
  }

  #withdraw(team: string, turn: Turn): void {
    const lane = this.#lanes.get(team)
    const at = lane?.waiting.indexOf(turn) ?? -1
    if (lane === undefined || at === -1) return
    lane.waiting.splice(at, 1)
    if (!lane.isRunning && lane.waiting.length === 0) this.#lanes.delete(team)
  }

  #passOn(): void {
    const next = this.#nextTurn()
    if (next === null) return
    const { team, lane, turn } = next
    lane.isRunning = true
    this.#isPausing = true
    this.#clock.nextTurn(() => {
      this.#isPausing = false
      this.#passOn()
    })
    if (turn.isStep) this.#steps += 1
    const running = turn.run()
    if (running === undefined) this.#end(team, lane)
    else void running.finally(() => this.#endStep(team, lane))
  }

  #nextTurn(): { readonly team: string; readonly lane: Lane; readonly turn: Turn } | null {
    for (const [team, lane] of this.#lanes) {
      const [first] = lane.waiting
      if (first === undefined || lane.isRunning) continue
      if (first.isStep && this.#steps >= STEPS_AT_ONCE) continue
      lane.waiting.shift()
      return { team, lane, turn: first }
    }
    return null
  }

  #endStep(team: string, lane: Lane): void {
    this.#steps -= 1
    this.#end(team, lane)
    if (!this.#isPausing) this.#passOn()
  }

  #end(team: string, lane: Lane): void {
    lane.isRunning = false
    // To the end of the line.
    this.#lanes.delete(team)
    if (lane.waiting.length > 0) this.#lanes.set(team, lane)
  }
}

interface VisitParts {
  readonly clock: TurnClock
  request(turn: Turn): void
  /** @param turn that is still waited for */
  leave(turn: Turn | null): void
}

/** One request at the gate. It asks for one turn after the other, and for none once it has left. */
export class Visit {
  readonly #parts: VisitParts
  #waiting: Turn | null = null
  #giveUp: () => void = () => undefined
  #hasLeft = false

  constructor(parts: VisitParts) {
    this.#parts = parts
  }

  /** Ends the visit; idempotent. Work that is under way stops at its next slice. */
  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#parts.leave(this.#waiting)
    this.#giveUp()
  }

  /** Works to the end, slice by slice; null = it has left before. */
  async run<T>(work: SlicedWork<T>): Promise<T | null> {
    for (;;) {
      const end = await this.#inTurn({ isStep: false, work: () => sliceOf(work, this.#parts.clock) })
      if (end === null) return null
      if (end.done === true) return end.value
    }
  }

  /** Waits for its turn, then does work that waits for Redis and little besides; null = it has left before. */
  step<T>(work: () => Promise<T>): Promise<T | null> {
    return this.#inTurn({ isStep: true, work })
  }

  #inTurn<T>({ isStep, work }: { isStep: boolean; work: () => T | Promise<T> }): Promise<T | null> {
    if (this.#hasLeft) return Promise.resolve(null)
    return new Promise((resolve, reject) => {
      const run = (): Promise<void> | undefined => {
        this.#waiting = null
        const end = new Promise<T>((settle) => settle(work())).then(resolve, reject)
        return isStep ? end : undefined
      }
      this.#waiting = { isStep, run }
      this.#giveUp = () => resolve(null)
      this.#parts.request(this.#waiting)
    })
  }
}

/** One slice; a `done` result ends the work. */
function sliceOf<T>(work: SlicedWork<T>, clock: TurnClock): IteratorResult<undefined, T> {
  const startedMs = clock.monotonicMs()
  for (;;) {
    const step = work.next()
    if (step.done === true || clock.monotonicMs() - startedMs >= SLICE_MS) return step
  }
}

/** The end of work that is known to be little. */
export function atOnce<T>(work: SlicedWork<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}
