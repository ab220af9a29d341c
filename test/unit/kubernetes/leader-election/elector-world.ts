import { ResourceApiError, type ResourceApiFault } from '../../../../src/domain/errors.ts'
import { LeaderElector } from '../../../../src/kubernetes/leader-election/leader-elector.ts'
import type { Lease, LeaseSpec, LeaseLock } from '../../../../src/kubernetes/leader-election/lease-lock.ts'
import type { Clock, Logger } from '../../../../src/ports/runtime.ts'
import { FAKE_EPOCH_MS } from '../../../support/fake-clock.ts'
import { quietLogger, quietReconcileMetrics } from '../../../support/quiet.ts'
import { SeededRandom } from '../../../simulation/story/seeded-random.ts'

/** How one request ends. `unheard`: it never arrives. `unanswered`: it is carried out, its answer is lost. */
export type Fate = 'fine' | 'unheard' | 'unanswered' | ResourceApiFault

interface WorldEvent {
  readonly atMs: number
  readonly run: () => void
}

/** Machines with separate clocks, a network, and one API server with one Lease, in virtual time. */
export class ElectorWorld {
  nowMs = 0
  readonly leases = new SimulatedLeases()
  readonly processes: SimulatedProcess[] = []
  readonly random: SeededRandom
  readonly #events = new Set<WorldEvent>()

  constructor(seed = 1) {
    this.random = new SeededRandom(seed)
  }

  after(delayMs: number, run: () => void): () => void {
    const event = { atMs: this.nowMs + Math.max(0, delayMs), run }
    this.#events.add(event)
    return () => this.#events.delete(event)
  }

  add(options: ProcessOptions = {}): SimulatedProcess {
    const process = new SimulatedProcess(this, `pod-${this.processes.length}`, options)
    this.processes.push(process)
    return process
  }

  /** @param check called after each event */
  async run(ms: number, check: () => void = () => undefined): Promise<void> {
    const untilMs = this.nowMs + ms
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve))
      check()
      const next = this.#next()
      if (next === undefined || next.atMs > untilMs) break
      this.#events.delete(next)
      this.nowMs = next.atMs
      next.run()
    }
    this.nowMs = untilMs
  }

  get leaders(): readonly string[] {
    return this.processes.filter(({ isLeading }) => isLeading).map(({ name }) => name)
  }

  #next(): WorldEvent | undefined {
    let next: WorldEvent | undefined
    for (const event of this.#events) if (next === undefined || event.atMs < next.atMs) next = event
    return next
  }
}

export interface ProcessOptions {
  /** How far its wall clock is off. */
  readonly wallOffMs?: number
  /** How fast its monotonic clock runs. */
  readonly rate?: number
  readonly logger?: Logger
}

/** How often a leader does something. */
const EFFECT_EVERY_MS = 250

/** One process with an elector; can be frozen, killed or cut off. */
export class SimulatedProcess {
  readonly name: string
  readonly elector: LeaderElector
  /** When it did something as the leader, and in which epoch. */
  readonly effects: Array<{ readonly atMs: number; readonly epoch: number }> = []
  epochs = 0
  /** Whether it has ever seen a Lease: an answer that came too late does not count. */
  hasSeenLease = false
  isCut = false
  fateOf: () => Fate = () => 'fine'
  delayMs: () => number = () => 5
  readonly #world: ElectorWorld
  #isPaused = false
  #isKilled = false
  #deferred: Array<() => void> = []

  constructor(world: ElectorWorld, name: string, options: ProcessOptions) {
    const { wallOffMs = 0, rate = 1, logger = quietLogger } = options
    this.name = name
    this.#world = world
    const offMs = world.random.between(0, 1_000_000)
    const clock: Clock = {
      monotonicMs: () => offMs + world.nowMs * rate,
      wallMs: () => FAKE_EPOCH_MS + wallOffMs + world.nowMs,
      after: (delayMs, run) => world.after(delayMs / rate, () => this.#wake(run)),
      nextTurn: (run) => void world.after(0, () => this.#wake(run)),
    }
    this.elector = new LeaderElector({
      lock: this.#lock(),
      identity: name,
      clock,
      logger,
      metrics: quietReconcileMetrics,
      random: () => world.random.next(),
    })
    this.elector.onLead((signal) => this.#lead(clock, signal))
  }

  /** A paused process asks nothing. */
  get isLeading(): boolean {
    return !this.#isPaused && this.elector.isLeader()
  }

  pause(): void {
    this.#isPaused = true
  }

  kill(): void {
    this.#isKilled = true
    this.#isPaused = true
  }

  resume(): void {
    if (this.#isKilled) return
    this.#isPaused = false
    const deferred = this.#deferred
    this.#deferred = []
    for (const run of deferred) run()
  }

  #wake(run: () => void): void {
    if (this.#isPaused) this.#deferred.push(run)
    else run()
  }

  async #lead(clock: Clock, signal: AbortSignal): Promise<void> {
    const epoch = (this.epochs += 1)
    while (!signal.aborted) {
      if (this.elector.isLeader()) this.effects.push({ atMs: this.#world.nowMs, epoch })
      await new Promise<void>((resolve) => clock.after(EFFECT_EVERY_MS, resolve))
    }
  }

  #lock(): LeaseLock {
    const { leases } = this.#world
    return {
      get: async (signal) => {
        const lease = await this.#call(() => leases.read())
        this.hasSeenLease ||= lease !== null && !signal.aborted
        return lease
      },
      create: async (spec, signal) => {
        const lease = await this.#call(() => leases.create(spec))
        this.hasSeenLease ||= !signal.aborted
        return lease
      },
      update: (lease, spec) => this.#call(() => leases.replace(lease, spec)),
    }
  }

  /** Heeds no signal: a canceled request still arrives. */
  #call<T>(apply: () => T): Promise<T> {
    const fate = this.fateOf()
    return new Promise((resolve, reject) => {
      this.#world.after(this.delayMs(), () => {
        if (this.isCut || fate === 'unheard') return
        const answer = outcomeOf(fate, apply, resolve, reject)
        this.#world.after(this.delayMs(), () => {
          if (!this.isCut && fate !== 'unanswered') this.#wake(answer)
        })
      })
    })
  }
}

function outcomeOf<T>(
  fate: Fate,
  apply: () => T,
  resolve: (value: T) => void,
  reject: (error: unknown) => void,
): () => void {
  try {
    if (fate !== 'fine' && fate !== 'unanswered' && fate !== 'unheard') throw new ResourceApiError(fate, fate)
    const value = apply()
    return () => resolve(value)
  } catch (error) {
    return () => reject(error)
  }
}

export class SimulatedLeases {
  lease: Lease | null = null
  deletions = 0
  #version = 0

  read(): Lease | null {
    return this.lease
  }

  create(spec: LeaseSpec): Lease {
    if (this.lease !== null) throw new ResourceApiError('conflict', 'exists')
    return this.#put({}, spec)
  }

  replace(former: Lease, spec: LeaseSpec): Lease {
    if (this.lease === null) throw new ResourceApiError('not_found', 'deleted')
    if (former.metadata.resourceVersion !== this.lease.metadata.resourceVersion) {
      throw new ResourceApiError('conflict', 'modified')
    }
    return this.#put(former, spec)
  }

  /** Someone else writes to the metadata. */
  touch(): void {
    if (this.lease !== null) this.#put(this.lease, {})
  }

  delete(): void {
    this.deletions += 1
    this.lease = null
  }

  #put(former: Partial<Lease>, spec: LeaseSpec): Lease {
    this.#version += 1
    const metadata = { ...former.metadata, resourceVersion: String(this.#version) }
    this.lease = Object.freeze({ ...former, metadata, spec: { ...former.spec, ...spec } })
    return this.lease
  }
}
