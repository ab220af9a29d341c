import type { CronSettings } from '../../../src/domain/crons/cron.ts'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../../src/domain/jobs/queue-settings.ts'
import type { JobRequest } from '../../../src/domain/jobs/job.ts'
import type { NewJob } from '../../../src/ports/jobs.ts'
import { SeededRandom } from './seeded-random.ts'
import { NO_FAULTS, type NetworkFaults } from '../redis/simulated-connection.ts'
import type { TargetHabits } from './simulated-target.ts'

/** For crons and for queues that are not listed here. */
export const TEAM = 'default'
const TEAMS: Readonly<Record<string, string>> = { beta: 'second', gamma: 'third' }

export function teamOf(queue: string): string {
  return TEAMS[queue] ?? TEAM
}

/** What happens and when, drawn from a seed. */
export type PlannedEvent = { readonly atMs: number } & (
  | { readonly what: 'push'; readonly job: NewJob }
  | { readonly what: 'apply'; readonly queue: string; readonly change: Partial<QueueSettings> }
  | { readonly what: 'remove'; readonly queue: string }
  | { readonly what: 'cancel' | 'replay' | 'retry' | 'fire' | 'duplicate'; readonly pick: number }
  | { readonly what: 'kill'; readonly executor: number; readonly restartMs: number }
  | { readonly what: 'stop'; readonly executor: number; readonly graceMs: number; readonly restartMs: number }
  | { readonly what: 'freeze'; readonly executor: number; readonly forMs: number; readonly stall: boolean }
  | { readonly what: 'cut'; readonly executor: number; readonly forMs: number }
  | { readonly what: 'away'; readonly shard: number; readonly forMs: number }
  | { readonly what: 'outage'; readonly forMs: number; readonly loadingMs: number }
  | { readonly what: 'clock'; readonly byMs: number }
)

/** What happens to executors, Redis and its clock. */
export const FAULTS: ReadonlySet<PlannedEvent['what']> = new Set([
  'kill',
  'stop',
  'freeze',
  'cut',
  'away',
  'outage',
  'clock',
])

/** A step that throws for each job of one team. */
export interface Thrower {
  readonly team: string
  readonly at: (typeof THROWING_STEPS)[number]
}

export const THROWING_STEPS = [
  /** The team's settings are looked up. */
  'settings',
  /** A call is made. */
  'call',
  /** The attempt is ended: nothing can be made of it. */
  'attempt',
  /** The end is put into the words of the step. */
  'end',
  /** The end is raised as an alert, which a window may mute. */
  'window',
  /** A response is judged, by an assertion that this executor does not know. */
  'judgement',
] as const

export interface Plan {
  readonly seed: number
  readonly shards: number
  readonly executors: number
  readonly concurrency: number
  /** The memory budget of an executor. */
  readonly callBytes: number
  /** How long jobs are pushed and faults happen; then everything heals. */
  readonly activeMs: number
  readonly queues: ReadonlyMap<string, QueueSettings>
  /** Created before the story starts, and never edited. */
  readonly crons: ReadonlyMap<string, CronSettings>
  readonly network: NetworkFaults
  readonly hintLoss: number
  readonly habits: TargetHabits
  /** The push whose every call kills its executor. */
  readonly poison: number | null
  readonly thrower: Thrower | null
  readonly events: readonly PlannedEvent[]
}

const SHARDS_MAX = 2
export const ROOMY_BYTES = 512 * 1024 ** 2
/** A claim reserves half of it. */
const SCARCE_BYTES = 256 * 1024
const QUEUE_NAMES = ['alpha', 'beta', 'gamma', 'delta']

export function drawPlan(seed: number): Plan {
  const random = new SeededRandom(seed)
  const activeMs = random.integer(15, 45) * 1000
  const names = QUEUE_NAMES.slice(0, random.integer(1, 4))
  const queues = new Map(names.map((name) => [name, drawSettings(random.fork())]))
  const executors = random.integer(1, 4)
  // A tenth of the seeds has no faults: then everything must be exact.
  const mayFail = (share: number) => !isCalm && random.chance(share)
  const isCalm = random.chance(0.1)
  const poison = mayFail(0.08) ? 0 : null
  const bursts = Array.from({ length: random.integer(1, 4) }, () => random.between(100, activeMs))
  const localFault = mayFail(0.25) ? random.pick([0.03, 0.3]) : 0
  const drawn = mayFail(0.6) ? drawNetwork(random) : NO_FAULTS
  // The same executor claims a released job again: old messages about it do the most harm then.
  const network = localFault > 0.1 && drawn !== NO_FAULTS ? { ...drawn, lostBefore: 0.05, late: 1 } : drawn
  const failing = random.pick([0, 0.3, 0.3, 0.8])
  return {
    seed,
    shards: random.integer(1, SHARDS_MAX),
    executors,
    concurrency: random.pick([2, 4, 16]),
    callBytes: random.pick([ROOMY_BYTES, ROOMY_BYTES, SCARCE_BYTES, 4 * SCARCE_BYTES]),
    activeMs,
    queues: withFlow(queues, { seed, failing }),
    crons: new Map(),
    network,
    hintLoss: mayFail(0.4) ? random.pick([0.5, 1]) : 0,
    habits: {
      failing,
      hanging: random.pick([0, 0.02, 0.1]),
      slow: random.pick([0, 0.1, 0.4]),
      slowMs: random.pick([3_000, 9_000, 35_000]),
      localFault,
      isAsking: seed % 3 === 0,
    },
    poison,
    thrower: null,
    events: [
      ...drawPushes(random.fork(), names, bursts, { activeMs, poison }),
      ...drawEdits(random.fork(), names, activeMs),
      ...(isCalm ? [] : drawFaults(random.fork(), executors, bursts, activeMs)),
    ].sort((a, b) => a.atMs - b.atMs),
  }
}

function drawSettings(random: SeededRandom): QueueSettings {
  return {
    ...DEFAULT_QUEUE_SETTINGS,
    timeoutSeconds: random.pick([1, 3, 10, 40]),
    maxParallelism: random.pick([null, 1, 1, 2, 3]),
    retryDelays: random.pick([[1], [1, 4], [2, 2, 8], [61]]),
    retriesEnabled: random.chance(0.8),
    callbackEvents: random.pick(['terminal', 'every_attempt']),
  }
}

/** Gives some queues a rate, a breaker and an ear for their targets, drawn apart so that the rest of the story stays. */
function withFlow(
  queues: ReadonlyMap<string, QueueSettings>,
  { seed, failing }: { readonly seed: number; readonly failing: number },
): ReadonlyMap<string, QueueSettings> {
  const random = new SeededRandom(seed ^ 0xf10a)
  if (random.chance(0.5)) return queues
  const flowOf = (): Partial<QueueSettings> => ({
    rateLimit: random.chance(0.6)
      ? { limit: random.pick([1, 3, 20]), periodSeconds: random.pick([1, 1, 5]) }
      : null,
    respectRetryAfter: random.chance(0.5),
    // Where most calls fail it would open for ever longer, and the story never end.
    circuitBreaker:
      failing < 0.5 && random.chance(0.4)
        ? { failurePercent: 70, minCalls: random.pick([2, 5]), windowSeconds: 10, openSeconds: 1 }
        : null,
    retryJitterPercent: random.pick([0, 0, 30]),
  })
  return new Map(
    [...queues].map(([name, queue]) => [name, { ...queue, ...(random.chance(0.6) && flowOf()) }]),
  )
}

export function drawNetwork(random: SeededRandom): NetworkFaults {
  return {
    lostBefore: random.pick([0, 0.002, 0.01, 0.03]),
    lostAfter: random.pick([0, 0.002, 0.01, 0.03]),
    late: random.pick([0, 0.3, 1]),
    slow: random.pick([0, 0.01, 0.1]),
    slowMs: random.pick([50, 500, 1_500]),
  }
}

function drawPushes(
  random: SeededRandom,
  queues: readonly string[],
  bursts: readonly number[],
  { activeMs, poison }: Pick<Plan, 'activeMs' | 'poison'>,
): PlannedEvent[] {
  const count = random.integer(8, 50)
  return Array.from({ length: count }, (_, n): PlannedEvent => {
    const atMs = random.chance(0.5) ? random.pick(bursts) : random.between(100, activeMs)
    const start = random.chance(0.1)
      ? { runAtMs: random.integer(-5_000, 70_000) }
      : { delaySeconds: random.pick([0, 0, 0, 0, 0, 1, 2, 9, 61, 75]) }
    const drawn = drawRequest(random, n)
    // Each attempt takes three lost leases.
    const request = n === poison ? { ...drawn, retryDelays: [1] } : drawn
    const queue = random.pick(queues)
    const job = { team: teamOf(queue), queue, request, start }
    return { atMs, what: 'push', job: { ...job, idempotency: null } }
  })
}

function drawRequest(random: SeededRandom, n: number): JobRequest {
  return {
    url: `http://target.test/${n}`,
    method: 'POST',
    headers: {},
    payload: random.chance(0.05) ? JSON.stringify('x'.repeat(5_000)) : null,
    callbackUrl: random.chance(0.3) ? 'http://callback.test/' : null,
    callbackEvents: random.pick([null, null, 'terminal', 'every_attempt']),
    tags: {},
    timeoutSeconds: random.pick([null, null, 2]),
    retryDelays: random.pick([null, null, [1], [1, 3], [2, 1, 5]]),
    retriesEnabled: random.pick([null, null, true, false]),
    successAssertions: null,
    cron: null,
  }
}

function drawEdits(random: SeededRandom, queues: readonly string[], activeMs: number): PlannedEvent[] {
  const events: PlannedEvent[] = []
  const at = () => random.between(500, activeMs)
  const times = (share: number, most: number) => (random.chance(share) ? random.integer(1, most) : 0)
  for (let i = times(0.4, 3); i > 0; i -= 1) {
    const queue = random.pick(queues)
    const atMs = at()
    events.push({ atMs, what: 'apply', queue, change: { isActive: false } })
    const resumedMs = atMs + random.between(50, 8_000)
    events.push({ atMs: resumedMs, what: 'apply', queue, change: { isActive: true } })
  }
  for (let i = times(0.4, 4); i > 0; i -= 1) {
    const change = { maxParallelism: random.pick([null, 1, 2, 5]) }
    events.push({ atMs: at(), what: 'apply', queue: random.pick(queues), change })
  }
  for (let i = times(0.2, 2); i > 0; i -= 1) {
    events.push({ atMs: at(), what: 'remove', queue: random.pick(queues) })
  }
  for (let i = times(0.3, 4); i > 0; i -= 1) {
    events.push({ atMs: at(), what: random.pick(['cancel', 'replay']), pick: random.integer(0, 99) })
  }
  for (let i = times(0.4, 6); i > 0; i -= 1) {
    const what = random.pick(['retry', 'fire', 'duplicate'] as const)
    events.push({ atMs: at(), what, pick: random.integer(0, 99) })
  }
  return events
}

function drawFaults(
  random: SeededRandom,
  executors: number,
  bursts: readonly number[],
  activeMs: number,
): PlannedEvent[] {
  const events: PlannedEvent[] = []
  const at = () => random.between(500, activeMs)
  const times = (share: number, most: number) => (random.chance(share) ? random.integer(1, most) : 0)
  const executor = () => random.integer(0, executors - 1)
  const restart = () => random.between(200, 9_000)
  for (let i = times(0.45, 4); i > 0; i -= 1) {
    events.push({ atMs: at(), what: 'kill', executor: executor(), restartMs: restart() })
  }
  for (let i = times(0.25, 3); i > 0; i -= 1) {
    const graceMs = random.pick([0, 500, 5_000])
    // Often when there is much to claim.
    const atMs = random.chance(0.5) ? random.pick(bursts) + random.between(0, 4) : at()
    events.push({ atMs, what: 'stop', executor: executor(), graceMs, restartMs: restart() })
  }
  for (let i = times(0.45, 3); i > 0; i -= 1) {
    const forMs = random.pick([
      random.between(500, 4_000),
      random.between(5_000, 14_000),
      random.between(15_000, 40_000),
    ])
    events.push({ atMs: at(), what: 'freeze', executor: executor(), forMs, stall: random.chance(0.3) })
  }
  for (let i = times(0.3, 3); i > 0; i -= 1) {
    const forMs = random.pick([random.between(200, 5_000), random.between(5_000, 30_000)])
    events.push({ atMs: at(), what: 'cut', executor: executor(), forMs })
  }
  for (let i = times(0.3, 2); i > 0; i -= 1) {
    const forMs = random.pick([random.between(500, 4_000), random.between(5_000, 30_000)])
    events.push({ atMs: at(), what: 'away', shard: random.integer(0, SHARDS_MAX - 1), forMs })
  }
  for (let i = times(0.3, 2); i > 0; i -= 1) {
    const forMs = random.pick([random.between(50, 2_000), random.between(2_000, 20_000)])
    events.push({ atMs: at(), what: 'outage', forMs, loadingMs: random.pick([0, 300]) })
  }
  for (let i = times(0.25, 3); i > 0; i -= 1) {
    const byMs = random.pick([1_500, 8_000, 25_000, 3_600_000, -1_500, -4_000, -9_000, -25_000])
    events.push({ atMs: at(), what: 'clock', byMs })
  }
  return events
}
