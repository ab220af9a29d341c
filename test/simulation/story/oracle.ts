import { LEASE_MARGIN_MS, LEASE_MS, LOST_LEASES_MAX } from '../../../src/domain/limits.ts'
import type { JobChain } from '../../../src/domain/jobs/job.ts'
import type { QueueSettings } from '../../../src/domain/jobs/queue-settings.ts'
import { inspect } from '../../../src/redis/upkeep/inspection/inspect.ts'
import type { RedisConnection } from '../../../src/redis/base/client/connection.ts'
import { createEngine } from '../../../src/redis/base/engine/engine.ts'
import { createJobStore } from '../../../src/redis/jobs/job-store.ts'
import { createStepRunner } from '../../../src/redis/base/engine/step-runner.ts'
import { quietLogger, quietMetrics } from '../../support/quiet.ts'
import type { PushEntry } from './ledger.ts'
import type { Simulation } from './simulation.ts'
import { NO_FAULTS } from '../redis/simulated-connection.ts'
import { SimulatedProcess } from './simulated-process.ts'
import { SeededRandom } from './seeded-random.ts'
import type { Delivery } from './simulated-target.ts'

/** Tolerance for late timers and clock drift over a lease. */
const TIMER_LAG_MS = 20
/** Keys that must not exist when everything has settled. */
const LEFT = /:(in:|a:|b:|trash:|m:|mins$|ring$|near$|ex$)/

/** Judges a story that has settled by the invariants I1–I6 of the reliability goals. */
export async function judge(simulation: Simulation): Promise<void> {
  const engine = openObserver(simulation)
  for (const defect of simulation.server.defects) simulation.complain(`Redis: ${defect}`)
  for (const { key, message } of await inspect(engine)) simulation.complain(`inspection: ${key} ${message}`)
  if (simulation.server.redis.hasKey(LEFT)) {
    simulation.complain(
      `left: ${Object.keys(simulation.server.redis.dump())
        .filter((key) => LEFT.test(key))
        .join(', ')}`,
    )
  }
  const store = createJobStore(engine)
  const judged = new StoryJudge(simulation)
  for (const chain of judged.chains()) {
    judged.judgeChain(chain, await store.get(chain.push.job.team, chain.rootId))
  }
  judged.judgeRest()
}

/** The engine's readers on a connection without a network. */
export function openObserver({ server, scheduler, around }: Simulation) {
  const client = new Proxy({} as RedisConnection, {
    get:
      (_, name) =>
      async (...words: unknown[]) =>
        server.execute(String(name), words.map(String)),
  })
  const { clock } = new SimulatedProcess('observer', scheduler, new SeededRandom(0))
  const parts = { scripts: around.scripts, clock, metrics: quietMetrics }
  const runner = createStepRunner({ connection: client, ...parts })
  return createEngine({ runner, jobIds: around.jobIds, logger: quietLogger, metrics: quietMetrics })
}

/** A chain that a client got an answer about. */
interface KnownChain {
  readonly rootId: number
  readonly push: PushEntry
  readonly acceptedAtMs: number
  readonly isReplay: boolean
}

class StoryJudge {
  readonly #simulation: Simulation
  /** By job id. */
  readonly #deliveries: ReadonlyMap<number, Delivery[]>
  readonly #callbacks: ReadonlyMap<string, Delivery[]>

  constructor(simulation: Simulation) {
    this.#simulation = simulation
    const { deliveries } = simulation.target
    const jobs = deliveries.filter((delivery) => delivery.jobId !== null)
    this.#deliveries = Map.groupBy(jobs, (delivery) => delivery.jobId as number)
    const callbacks = deliveries.filter((delivery) => delivery.jobId === null)
    this.#callbacks = Map.groupBy(callbacks, (delivery) => delivery.webhookId)
  }

  chains(): KnownChain[] {
    const { ledger } = this.#simulation
    const pushed = ledger.pushes.flatMap((push): KnownChain[] => {
      if (push.result === null || !('jobId' in push.result)) return []
      const { jobId, status } = push.result
      if (status === 'repeated') this.#complain(jobId, 'was taken for a repeat')
      return [{ rootId: jobId, push, acceptedAtMs: push.answeredAtMs ?? 0, isReplay: false }]
    })
    const rootOf = new Map(pushed.map((chain) => [chain.rootId, chain]))
    const replayed = ledger.replays.flatMap(({ jobId, newId, atMs }): KnownChain[] => {
      const origin = rootOf.get(jobId)
      return origin === undefined ? [] : [{ ...origin, rootId: newId, acceptedAtMs: atMs, isReplay: true }]
    })
    return [...pushed, ...replayed]
  }

  judgeChain(known: KnownChain, chain: JobChain | null): void {
    const { rootId } = known
    if (this.#isThrowing(known)) return this.#judgeThrown(known, chain)
    this.#judgeDeliveries(known, chain)
    this.#judgeCallbacks(known, chain)
    if (chain === null) {
      if (!this.#mayBeGone(known)) this.#complain(rootId, 'is gone')
      return
    }
    if (chain.end === null) return this.#complain(rootId, `has not ended: ${JSON.stringify(chain.open)}`)
    this.#judgeAttempts(known, chain)
  }

  /** Whether a step throws for it: then how it ends says nothing. */
  #isThrowing({ push }: KnownChain): boolean {
    const { thrower } = this.#simulation.plan
    return thrower !== null && thrower.at !== 'window' && push.job.team === thrower.team
  }

  /** It ends, and each of its attempts is called once at most. */
  #judgeThrown(known: KnownChain, chain: JobChain | null): void {
    const { rootId } = known
    const { jobIds } = this.#simulation.around
    for (let attempt = 1; attempt <= 16; attempt += 1) {
      const jobId = rootId + (attempt - 1) * jobIds.shards
      this.#judgeRepeats(jobId, this.#deliveries.get(jobId) ?? [])
    }
    if (chain === null && !this.#mayBeGone(known)) this.#complain(rootId, 'is gone')
    if (chain?.end === null) this.#complain(rootId, `has not ended: ${JSON.stringify(chain.open)}`)
  }

  judgeRest(): void {
    const { target, claims } = this.#simulation
    for (const delivery of target.deliveries) {
      if (delivery.endedAtMs === null) this.#complain(delivery.jobId ?? 0, 'is still on the wire')
      else this.#judgeLease(delivery, delivery.endedAtMs)
    }
    const { ledger } = this.#simulation
    for (const { jobId, result, answeredAtMs } of ledger.cancellations) {
      // Known gap: a push whose first message arrives after its job was cancelled creates the job again.
      if (this.#simulation.plan.network.late > 0) continue
      const after = (this.#deliveries.get(jobId) ?? []).some(({ startedAtMs }) => startedAtMs > answeredAtMs)
      if (result === 'cancelled' && after) this.#complain(jobId, 'was cancelled and called')
    }
    const { network, habits } = this.#simulation.plan
    const isCalm = this.#simulation.faults.isEmpty && network === NO_FAULTS && habits.localFault === 0
    const { jobIds } = this.#simulation.around
    const throwing = this.chains().flatMap((known) => (this.#isThrowing(known) ? [known.rootId] : []))
    const uncalled = new Set(throwing)
    for (const [key, claim] of claims.claims) {
      if (uncalled.has(jobIds.rootOf(claim.jobId))) continue
      if (isCalm && !claim.isCallback && !this.#deliveries.has(claim.jobId)) {
        this.#complain(claim.jobId, `was claimed (${key}) and never called`)
      }
    }
  }

  /** An executor that Redis no longer answers aborts its calls before its jobs may be reaped. */
  #judgeLease({ jobId, token, process, outcome, startedAtMs }: Delivery, endedAtMs: number): void {
    const { claims, faults } = this.#simulation
    const claim = claims.claims.get(`${jobId} ${token.split('-')[1]}`)
    if (claim === undefined || outcome === 'killed') return
    const silenceMs = endedAtMs - claims.lastBeat(claim, endedAtMs)
    if (silenceMs <= LEASE_MS - LEASE_MARGIN_MS + TIMER_LAG_MS) return
    if (faults.mayOverlap(process.name, startedAtMs, endedAtMs)) return
    this.#complain(jobId ?? 0, `was on the wire ${silenceMs.toFixed(0)} ms after the last beat`)
  }

  #complain(jobId: number, problem: string): void {
    this.#simulation.complain(`job ${jobId} ${problem}`)
  }

  /** Whether its queue was deleted, or the job cancelled, after the push. */
  #mayBeGone({ rootId, push }: KnownChain): boolean {
    const { removals, cancellations } = this.#simulation.ledger
    const isDeleted = removals.some(
      ({ queue, sentAtMs }) => queue === push.job.queue && sentAtMs >= push.sentAtMs - 10_000,
    )
    return isDeleted || cancellations.some(({ jobId, result }) => jobId === rootId && result !== 'refused')
  }

  #settingsOf({ push, isReplay }: KnownChain): Pick<QueueSettings, 'retriesEnabled' | 'retryDelays'> | null {
    const { queues } = this.#simulation.plan
    const { request, queue } = push.job
    const settings = queues.get(queue) as QueueSettings
    const { removals } = this.#simulation.ledger
    const isRemade = isReplay || removals.some((removal) => removal.queue === queue)
    // A queue that a push created again has default settings.
    if (isRemade && (request.retriesEnabled === null || request.retryDelays === null)) return null
    return {
      retriesEnabled: request.retriesEnabled ?? settings.retriesEnabled,
      retryDelays: request.retryDelays ?? settings.retryDelays,
    }
  }

  #judgeAttempts(known: KnownChain, chain: JobChain): void {
    const { rootId } = known
    const { attempts, end } = chain
    attempts.forEach((attempt, i) => {
      const isLast = i === attempts.length - 1
      const isOk = attempt.failureReason === null
      if (isOk !== (isLast && end === 'success'))
        this.#complain(rootId, `ended ${end} after ${outcomes(chain)}`)
    })
    const settings = this.#settingsOf(known)
    if (settings === null) return
    const attemptsMax = settings.retriesEnabled ? settings.retryDelays.length + 1 : 1
    const isWhole = end === 'success' ? attempts.length <= attemptsMax : attempts.length === attemptsMax
    if (!isWhole) this.#complain(rootId, `ended ${end} after ${attempts.length} of ${attemptsMax} attempts`)
    if (end !== 'success' && (end === 'dead_lettered') !== settings.retriesEnabled) {
      this.#complain(rootId, `ended ${end} though retries are ${settings.retriesEnabled}`)
    }
    if (!this.#simulation.plan.events.some(({ what }) => what === 'clock'))
      this.#judgeDelays(known, chain, settings.retryDelays)
  }

  /** The delay of a retry counts from the end of the attempt before it, that of the first attempt from the push. */
  #judgeDelays({ push, isReplay, rootId }: KnownChain, chain: JobChain, delays: readonly number[]): void {
    const { start } = push.job
    const jobIds = this.#simulation.around.jobIds
    chain.attempts.forEach((_, i) => {
      const first = this.#deliveries.get(rootId + i * jobIds.shards)?.[0]
      if (first === undefined || (i === 0 && this.#simulation.ledger.fired.has(rootId))) return
      const before = this.#deliveries.get(rootId + (i - 1) * jobIds.shards)?.[0]
      const delayMs =
        i > 0 ? (delays[i - 1] ?? 0) * 1000 : 'delaySeconds' in start ? start.delaySeconds * 1000 : 0
      const fromMs = i > 0 ? before?.startedAtMs : isReplay ? undefined : push.sentAtMs
      if (fromMs !== undefined && first.startedAtMs < fromMs + delayMs) {
        this.#complain(rootId, `attempt ${i + 1} came ${fromMs + delayMs - first.startedAtMs} ms early`)
      }
    })
  }

  #judgeDeliveries({ rootId }: KnownChain, chain: JobChain | null): void {
    const { jobIds } = this.#simulation.around
    const count = chain?.attempts.length ?? 0
    for (let attempt = 1; attempt <= 16; attempt += 1) {
      const jobId = rootId + (attempt - 1) * jobIds.shards
      const deliveries = this.#deliveries.get(jobId) ?? []
      this.#judgeRepeats(jobId, deliveries)
      if (deliveries.some((delivery) => delivery.attempt !== attempt))
        this.#complain(jobId, 'has a wrong attempt')
      if (chain === null) continue
      if (attempt > count && deliveries.length > 0) this.#complain(jobId, `is attempt ${attempt} of ${count}`)
      const summary = chain.attempts[attempt - 1]
      if (summary === undefined || summary.failureReason === 'executor_lost') continue
      const wanted =
        summary.failureReason === null ? 'ok' : summary.failureReason === 'timeout' ? 'timeout' : 'failed'
      if (!deliveries.some(({ seen }) => seen === wanted)) {
        this.#complain(jobId, `ended ${summary.failureReason ?? 'ok'} and no call of it did`)
      }
      const lost = deliveries.find((delivery) => delivery.seen !== wanted && !this.#mayBeLost(delivery))
      if (lost !== undefined) this.#complain(jobId, `had a call that ended ${lost.seen}, which was dropped`)
    }
  }

  /** I3: one delivery per attempt, plus one per executor that a fault hit; at most one per claim. */
  #judgeRepeats(jobId: number, deliveries: readonly Delivery[]): void {
    const sound = deliveries.filter((delivery) => !this.#mayBeLost(delivery))
    if (sound.length > 1) {
      const names = sound.map(({ process }) => process.name).join(' and ')
      this.#complain(jobId, `was called by ${names} for no reason`)
    }
    const tokens = deliveries.filter(({ jobId: id }) => id !== null).map(({ token }) => token)
    if (new Set(tokens).size < tokens.length) this.#complain(jobId, 'was called twice under one claim')
  }

  /** Whether a fault hit the executor between the claim of a job and the writing of its end. */
  #mayBeLost({ process, startedAtMs, endedAtMs }: Delivery): boolean {
    const writtenMs = (endedAtMs ?? Infinity) + 15_000
    return this.#simulation.faults.mayHaveLost(process.name, startedAtMs - 15_000, writtenMs)
  }

  #judgeCallbacks({ rootId, push }: KnownChain, chain: JobChain | null): void {
    const { jobIds, lossesMax } = { jobIds: this.#simulation.around.jobIds, lossesMax: LOST_LEASES_MAX }
    const uuid = jobIds.uuidOf(rootId)
    const terminal = this.#callbacks.get(`${uuid}_cb`) ?? []
    this.#judgeRepeats(rootId, terminal)
    for (let attempt = 1; attempt <= 16; attempt += 1) {
      this.#judgeRepeats(rootId, this.#callbacks.get(`${uuid}_cb_${attempt}`) ?? [])
    }
    if (push.job.request.callbackUrl === null) {
      if (terminal.length > 0) this.#complain(rootId, 'had a callback that nobody asked for')
      return
    }
    const isCertain = chain !== null && chain.end !== null && this.#simulation.faults.count < lossesMax
    if (isCertain && terminal.length === 0) this.#complain(rootId, `ended ${chain.end} without a callback`)
  }
}

function outcomes(chain: JobChain): string {
  return chain.attempts.map(({ failureReason }) => failureReason ?? 'success').join(', ')
}
