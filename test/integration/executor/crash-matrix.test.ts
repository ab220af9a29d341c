import { describe, expect, test } from 'vitest'
import { LEASE_BEAT_MS, LEASE_MS } from '../../../src/domain/limits.ts'
import { callbackQueueOf } from '../../../src/redis/base/layout/keys.ts'
import type { StepName } from '../../../src/redis/steps.ts'
import { startInstallation, type Installation } from '../../support/engine/installation.ts'
import type { Program } from '../../support/servers/processes.ts'
import type { TestRedis } from '../../support/servers/redis-server.ts'
import { latch } from '../../support/targets/target.ts'
import { startTcpProxy } from '../../support/targets/tcp-proxy.ts'
import { startTrapTarget, type TrapMoment, type TrapTarget } from '../../support/targets/trap-target.ts'
import { until } from '../../support/until.ts'

/**
 * Executors are killed at every step they take, one after another in one installation. Their leases end together, before
 * the ones that reap are killed, and the survivors finish the work. CRASHES=full kills at each point with one and with
 * three executors.
 */
const IS_FULL = process.env['CRASHES'] === 'full'

/** A nap ends while the sleeper still holds its leases: it abandons a lease two seconds before its end. */
const NAP_LEASE_LEFT_MS = 8_000

type When = 'before' | 'after'

interface StepPoint {
  readonly step: StepName
  readonly when: When
  /** Only a step with a key that ends like this: keys of the callback queue identify the step of a callback. */
  readonly about?: string
  readonly delay?: number
}

interface CallPoint {
  readonly call: 'job' | 'callback'
  readonly moment: TrapMoment
}

type Point = StepPoint | CallPoint

/** The callback queue of the only team, in each shard. */
const CALLBACKS = callbackQueueOf('1')

const BOTH: readonly When[] = ['before', 'after']
const MOMENTS: readonly TrapMoment[] = ['accept', 'headers', 'body']

const POINTS: readonly Point[] = [
  ...MOMENTS.map((moment) => ({ call: 'job', moment }) as const),
  ...BOTH.map((when) => ({ step: 'claim', when }) as const),
  ...BOTH.map((when) => ({ step: 'finish', when }) as const),
  ...BOTH.map((when) => ({ step: 'promote', when, delay: 2 }) as const),
  ...BOTH.map((when) => ({ step: 'claim', when, about: `:p:${CALLBACKS}` }) as const),
  ...MOMENTS.map((moment) => ({ call: 'callback', moment }) as const),
  ...BOTH.map((when) => ({ step: 'finish', when, about: `:xb:${CALLBACKS}` }) as const),
  ...BOTH.map((when) => ({ step: 'reap', when }) as const),
]
/** Points that may differ with three executors, because the others claim, promote and reap at the same time. */
const SHORT_WITH_THREE = POINTS.filter((point) =>
  'step' in point ? point.when === 'after' : point.moment === 'headers',
)

interface Death {
  readonly queue: string
  /** Further settings of its jobs. */
  readonly change: Readonly<Record<string, unknown>>
  readonly dying: Program
  /** The others nap. */
  readonly isAlone: boolean
}

/** The executors that are not killed, and the ids of their leases. */
interface Sleepers {
  readonly programs: readonly Program[]
  readonly ids: readonly string[]
}

class CrashRun {
  readonly accepted = new Set<number>()
  /** `job|token` and `callback of job|token` that a killed executor held. */
  readonly hit = new Set<string>()
  readonly traps: TrapTarget[] = []
  readonly #dead: Program[] = []
  readonly #here: Installation
  readonly #hashes: Readonly<Record<StepName, string>>
  readonly #sleepers: Sleepers

  constructor(here: Installation, hashes: Readonly<Record<StepName, string>>, sleepers: Sleepers) {
    this.#here = here
    this.#hashes = hashes
    this.#sleepers = sleepers
  }

  async kill(point: Point, at: number): Promise<void> {
    const here = this.#here
    const proxy = await startTcpProxy(here.redis.port)
    const dying = await here.startExecutor({ PUNCTUAL_REDIS_URL: proxy.url })
    const die = () => dying.signal('SIGKILL')
    const change: { url?: string; callback_url?: string; delay?: number } = {}
    if ('call' in point) {
      const trap = await startTrapTarget(point.moment, die)
      this.traps.push(trap)
      change[point.call === 'job' ? 'url' : 'callback_url'] = trap.url
    } else {
      const { step, when, about, delay } = point
      const isMeant = (command: Buffer) => about === undefined || command.includes(`${about}\r\n`)
      void proxy.cutAtScript(this.#hashes[step], when, die, isMeant)
      if (delay !== undefined) change.delay = delay
    }
    const isReaping = 'step' in point && point.step === 'reap'
    const isAlone = 'call' in point || isReaping
    const napping = isAlone && napWhile(here.redis, this.#sleepers, dying.isRunning)
    if (isReaping) await this.endLeases()
    await Promise.all([this.#pushUntilDead({ queue: `at-${at}`, change, dying, isAlone }), napping])
    await dying.exited
    this.#dead.push(dying)
    await this.#noteHeld()
    await proxy.close()
  }

  /** Of all that have been killed so far. */
  async endLeases(): Promise<void> {
    for (const dead of this.#dead) await this.#here.endLeases(dead)
  }

  /** The executor to be killed may miss a job or two to the others: once those have ended, more are pushed. */
  async #pushUntilDead({ queue, change, dying, isAlone }: Death): Promise<void> {
    const { client, target } = this.#here
    while (dying.isRunning()) {
      const jobs = Array.from({ length: 4 }, (_, i) =>
        client.push({
          queue: `${queue}-${i}`,
          url: `${target.url}/job`,
          callback_url: `${target.url}/cb`,
          retries_enabled: false,
          ...change,
        }),
      )
      const ids = (await Promise.all(jobs)).map(({ job_id: id }) => id)
      for (const id of ids) this.accepted.add(id)
      const isMissed = async () => {
        const seen = await Promise.all(ids.map((id) => client.job(id)))
        return seen.every(({ final_status: status }) => status === 'success')
      }
      await until(`a death at ${queue}`, async () => !dying.isRunning() || (!isAlone && (await isMissed())))
    }
  }

  /** Jobs that dead executors hold until they are reaped. */
  async #noteHeld(): Promise<void> {
    const { client } = this.#here.redis
    for (const key of await client.keys('punctual:*:in:*')) {
      for (const [id, held] of Object.entries(await client.hgetall(key))) {
        if (id.startsWith('#')) continue
        const [queue, token] = held.split('|')
        this.hit.add(`${queue === CALLBACKS ? 'callback of ' : ''}${id}|${token}`)
      }
    }
  }

  hits(what: string): number {
    return [...this.hit].filter((one) => one.startsWith(`${what}|`)).length
  }
}

/** Executors with leases: ms until the earliest end of each one's leases. */
async function leasesLeft({ client }: TestRedis): Promise<ReadonlyMap<string, number>> {
  const [seconds] = await client.time()
  const left = new Map<string, number>()
  for (const key of await client.keys('punctual:*:ex')) {
    const leases = await client.zrange(key, 0, '-1', 'WITHSCORES')
    for (let at = 0; at < leases.length; at += 2) {
      const [executor = '', endsAtMs] = leases.slice(at, at + 2)
      const leftMs = Number(endsAtMs) - Number(seconds) * 1000
      left.set(executor, Math.min(leftMs, left.get(executor) ?? Infinity))
    }
  }
  return left
}

/** The sleepers leave a call or a reap to the executor to be killed, and wake in time to keep their leases. */
async function napWhile(redis: TestRedis, sleepers: Sleepers, isOn: () => boolean): Promise<void> {
  const signalAll = (signal: NodeJS.Signals) => sleepers.programs.forEach((one) => one.signal(signal))
  const leftMs = async () => {
    const left = await leasesLeft(redis)
    return Math.min(...sleepers.ids.map((id) => left.get(id) ?? 0))
  }
  while (isOn() && sleepers.programs.length > 0) {
    signalAll('SIGSTOP')
    await until('a lease is nearly over', async () => !isOn() || (await leftMs()) < NAP_LEASE_LEFT_MS)
    signalAll('SIGCONT')
    await until('it is renewed', async () => !isOn() || (await leftMs()) > LEASE_MS - LEASE_BEAT_MS)
  }
}

async function expectEachEndedOnce(here: Installation, run: CrashRun): Promise<void> {
  for (const id of run.accepted) {
    expect(await here.client.ended(id)).toMatchObject({
      final_status: 'success',
      attempt_number: 1,
      chain: [{ job_id: id }],
    })
  }
  await here.inspectAtRest()
  const all = [...here.target.arrivals(), ...run.traps.flatMap((trap) => trap.arrivals)]
  const jobs = Map.groupBy(
    all.filter(({ jobId }) => jobId !== null),
    ({ jobId }) => jobId,
  )
  const callbacks = Map.groupBy(
    all.filter(({ jobId }) => jobId === null),
    ({ body }) => (JSON.parse(body) as { job_number: number }).job_number,
  )
  for (const id of run.accepted) {
    const [calls, reports] = [jobs.get(id) ?? [], callbacks.get(id) ?? []]
    expect(calls.length, `deliveries of ${id}`).toBeGreaterThanOrEqual(1)
    expect(calls.length, `deliveries of ${id}`).toBeLessThanOrEqual(1 + run.hits(String(id)))
    expect(new Set(calls.map(({ attempt }) => attempt))).toEqual(new Set([1]))
    expect(reports.length, `callbacks of ${id}`).toBeGreaterThanOrEqual(1)
    expect(reports.length, `callbacks of ${id}`).toBeLessThanOrEqual(1 + run.hits(`callback of ${id}`))
  }
}

describe.concurrent('executors killed at every step', () => {
  test.for([
    { executors: 1, points: POINTS },
    { executors: 3, points: IS_FULL ? POINTS : SHORT_WITH_THREE },
  ])(
    'lose nothing and double only what a kill hit in flight: $executors',
    { timeout: 300_000 },
    async ({ executors, points }) => {
      const here = await startInstallation({ executors: executors - 1 })
      const sleepers = { programs: [...here.executors], ids: [...(await leasesLeft(here.redis)).keys()] }
      const run = new CrashRun(here, await here.loadScripts(), sleepers)
      for (const [at, point] of points.entries()) await run.kill(point, at)
      await Promise.all([here.startExecutor(), run.endLeases()])
      // Each executor whose call hung held at least one job.
      expect(run.hit.size).toBeGreaterThanOrEqual(points.filter((point) => 'call' in point).length)
      await expectEachEndedOnce(here, run)
      await here.close()
      expect(run.accepted.size).toBeGreaterThanOrEqual(4 * points.length - 8)
      await Promise.all(run.traps.map((trap) => trap.close()))
    },
  )
})

interface Freeze {
  /** When the frozen executor wakes. */
  readonly until: string
  readonly isOver: (frozen: { here: Installation; leftMs: number; path: string }) => boolean
  readonly deliveries: readonly number[]
}

const arrivals = (here: Installation, path: string) => here.target.arrivals(path).length
const FREEZES: readonly Freeze[] = [
  { until: 'half of its lease is left', isOver: ({ leftMs }) => leftMs < LEASE_MS / 2, deliveries: [1] },
  // The delay depends on the last renewal of the lease, and on how soon its end is noticed.
  { until: 'its lease is nearly over', isOver: ({ leftMs }) => leftMs < 1_000, deliveries: [1, 2] },
  { until: 'another has its job', isOver: ({ here, path }) => arrivals(here, path) === 2, deliveries: [2] },
]

describe.concurrent('an executor that freezes', () => {
  test.for(FREEZES)('until $until ends its job once', async ({ isOver, deliveries }) => {
    const here = await startInstallation({ executors: 0 })
    const [held, path] = [latch(), '/job']
    here.target.route(path, (arrival, nth) => (nth === 1 ? held.answering(arrival, nth) : {}))
    const frozen = await here.startExecutor()
    const [frozenId = ''] = (await leasesLeft(here.redis)).keys()
    const { job_id: id } = await here.client.push({
      queue: 'freeze',
      url: `${here.target.url}${path}`,
      callback_url: `${here.target.url}/cb`,
    })
    await here.target.arrived(path)
    await here.startExecutor()
    frozen.signal('SIGSTOP')
    await until('it may wake', async () => {
      const leftMs = (await leasesLeft(here.redis)).get(frozenId) ?? 0
      return isOver({ here, leftMs, path })
    })
    held.open()
    frozen.signal('SIGCONT')
    expect(await here.client.ended(id)).toMatchObject({
      final_status: 'success',
      attempt_number: 1,
      chain: [{}],
    })
    await here.target.arrived('/cb')
    await here.close()
    expect(here.target.arrivals(path).length).toBeOneOf([...deliveries])
    expect(here.target.arrivals(path).every(({ attempt }) => attempt === 1)).toBe(true)
    expect(here.target.arrivals('/cb')).toHaveLength(1)
  })
})
