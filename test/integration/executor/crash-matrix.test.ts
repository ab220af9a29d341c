import { describe, expect, test } from 'vitest'
import { callbackQueueOf } from '../../../src/redis/layout/keys.ts'
import type { StepName } from '../../../src/redis/steps.ts'
import { startInstallation, type Installation } from '../../support/engine/installation.ts'
import type { Program } from '../../support/servers/processes.ts'
import { latch } from '../../support/targets/target.ts'
import { startTcpProxy } from '../../support/targets/tcp-proxy.ts'
import { startTrapTarget, type TrapMoment, type TrapTarget } from '../../support/targets/trap-target.ts'

/**
 * An executor is killed at every step it takes, one after another in one installation, so that all wait for the same
 * leases. What then lives finishes the work. CRASHES=full kills at each point with both numbers of
 * executors and freezes one for a minute.
 */
const IS_FULL = process.env['CRASHES'] === 'full'

/** Leases of those killed last, rescuers' rounds, and what a busy machine adds. */
const ENDED_MS = 45_000

/** A lease of one killed before must run out while the others nap. */
const DEATH_MS = 60_000

type When = 'before' | 'after'

interface StepPoint {
  readonly step: StepName
  readonly when: When
  /** Only a step with a key that ends so: the callback queue's keys tell a callback's step. */
  readonly about?: string
  readonly delay?: number
}

interface CallPoint {
  readonly call: 'job' | 'callback'
  readonly moment: TrapMoment
}

type Point = StepPoint | CallPoint

/** Of the one team there is, in each shard. */
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
  // By now the leases of the first have run out.
  ...BOTH.map((when) => ({ step: 'reap', when }) as const),
]
/** With three, what may differ: the others claim, promote and reap at the same time. */
const SHORT_WITH_THREE = POINTS.filter((point) =>
  'step' in point ? point.when === 'after' : point.moment === 'headers',
)

class CrashRun {
  readonly accepted = new Set<number>()
  /** `job|token` and `callback of job|token` that a killed executor held. */
  readonly hit = new Set<string>()
  readonly traps: TrapTarget[] = []
  readonly #here: Installation
  readonly #hashes: Readonly<Record<StepName, string>>

  constructor(here: Installation, hashes: Readonly<Record<StepName, string>>) {
    this.#here = here
    this.#hashes = hashes
  }

  async kill(point: Point, at: number): Promise<void> {
    const here = this.#here
    const others = here.executors.filter((one) => one.isRunning())
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
    const isAlone = 'call' in point || point.step === 'reap'
    await Promise.all([
      this.#pushUntilDead(`at-${at}`, change, dying.isRunning, 'call' in point),
      isAlone && napWhile(others, dying.isRunning),
    ])
    await dying.exited
    await this.#noteHeld()
    await proxy.close()
  }

  /** With others at work the one that is to die may miss a job or two. */
  async #pushUntilDead(
    queue: string,
    change: object,
    isAlive: () => boolean,
    isOnce: boolean,
  ): Promise<void> {
    const { client, target } = this.#here
    const deadline = Date.now() + DEATH_MS
    for (let round = 0; isAlive(); round += 1) {
      if (Date.now() > deadline) throw new Error(`nobody died at ${JSON.stringify(queue)}`)
      if (round % 40 === 0 && !(isOnce && round > 0)) {
        const jobs = Array.from({ length: 4 }, (_, i) =>
          client.push({
            queue: `${queue}-${i}`,
            url: `${target.url}/job`,
            callback_url: `${target.url}/cb`,
            retries_enabled: false,
            ...change,
          }),
        )
        for (const { job_id: id } of await Promise.all(jobs)) this.accepted.add(id)
      }
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  }

  /** What the dead hold until they are reaped. */
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

/** The others leave a call or a rescue to the one that is to die; they sleep too short to lose a lease. */
async function napWhile(others: readonly Program[], isOn: () => boolean): Promise<void> {
  const rest = async (ms: number) => {
    const endMs = Date.now() + ms
    while (isOn() && Date.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 10))
  }
  while (isOn()) {
    for (const one of others) one.signal('SIGSTOP')
    await rest(5_000)
    for (const one of others) one.signal('SIGCONT')
    await rest(6_000)
  }
}

async function expectEachEndedOnce(here: Installation, run: CrashRun): Promise<void> {
  for (const id of run.accepted) {
    expect(await here.client.ended(id, ENDED_MS)).toMatchObject({
      final_status: 'success',
      attempt_number: 1,
      chain: [{ job_id: id }],
    })
  }
  await here.auditAtRest()
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
    const [calls, told] = [jobs.get(id) ?? [], callbacks.get(id) ?? []]
    expect(calls.length, `deliveries of ${id}`).toBeGreaterThanOrEqual(1)
    expect(calls.length, `deliveries of ${id}`).toBeLessThanOrEqual(1 + run.hits(String(id)))
    expect(new Set(calls.map(({ attempt }) => attempt))).toEqual(new Set([1]))
    expect(told.length, `callbacks of ${id}`).toBeGreaterThanOrEqual(1)
    expect(told.length, `callbacks of ${id}`).toBeLessThanOrEqual(1 + run.hits(`callback of ${id}`))
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
      const run = new CrashRun(here, await here.loadScripts())
      for (const [at, point] of points.entries()) await run.kill(point, at)
      await here.startExecutor()
      // Each of those whose call hung held a job at least.
      expect(run.hit.size).toBeGreaterThanOrEqual(points.filter((point) => 'call' in point).length)
      await expectEachEndedOnce(here, run)
      await here.close()
      expect(run.accepted.size).toBeGreaterThanOrEqual(4 * points.length - 8)
      await Promise.all(run.traps.map((trap) => trap.close()))
    },
  )
})

describe.concurrent('executors that freeze', () => {
  test('for less than a lease, about one, and more, end each job once', { timeout: 180_000 }, async () => {
    // A lease, the margin and a round of the rescuers are over after 19 s, and a little later on a busy machine.
    const seconds = [5, 14, 25, ...(IS_FULL ? [60] : [])]
    const here = await startInstallation({ executors: 0 })
    const held = seconds.map(() => latch())
    const frozen: Program[] = []
    const ids: number[] = []
    for (const [i, answer] of held.entries()) {
      here.target.route(`/job-${i}`, (arrival, nth) => (nth === 1 ? answer.answering(arrival, nth) : {}))
      // One call each, so that the next job goes to the next.
      frozen.push(
        await here.startExecutor({ PUNCTUAL_EXECUTOR_CONCURRENCY: '1', PUNCTUAL_CONCURRENCY_RESERVE: '0' }),
      )
      const { job_id: id } = await here.client.push({
        queue: `freeze-${i}`,
        url: `${here.target.url}/job-${i}`,
        callback_url: `${here.target.url}/cb-${i}`,
      })
      ids.push(id)
      await here.target.arrived(`/job-${i}`)
    }
    await here.startExecutor()
    for (const one of frozen) one.signal('SIGSTOP')
    await Promise.all(
      seconds.map(async (length, i) => {
        await new Promise((resolve) => setTimeout(resolve, length * 1000))
        held[i]?.open()
        frozen[i]?.signal('SIGCONT')
      }),
    )
    for (const [i, id] of ids.entries()) {
      expect(await here.client.ended(id)).toMatchObject({
        final_status: 'success',
        attempt_number: 1,
        chain: [{}],
      })
      await here.target.arrived(`/cb-${i}`)
    }
    await here.close()
    const deliveries = seconds.map((_, i) => here.target.arrivals(`/job-${i}`).length)
    // At 14 s it depends on when the lease was last renewed.
    expect(deliveries).toEqual([1, expect.toBeOneOf([1, 2]), ...seconds.slice(2).map(() => 2)])
    for (const [i] of seconds.entries()) {
      expect(here.target.arrivals(`/job-${i}`).every(({ attempt }) => attempt === 1)).toBe(true)
      expect(here.target.arrivals(`/cb-${i}`)).toHaveLength(1)
    }
  })
})
