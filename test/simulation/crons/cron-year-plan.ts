import type { CronSettings } from '../../../src/domain/crons/cron.ts'
import { cronSettings } from '../../support/engine/cron-settings.ts'
import { drawNetwork } from '../story/plan.ts'
import type { SeededRandom } from '../story/seeded-random.ts'
import { NO_FAULTS, type NetworkFaults } from '../redis/simulated-connection.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const EXPRESSIONS = [
  '0 * * * *',
  '30 2 * * *',
  '0 0 * * *',
  '*/20 1-3 * * *',
  '0 9 * * MON',
  '15 1 * * SUN',
  '0 0 28-31 * *',
  '59 23 31 * *',
  '0 6 29 2 *',
  '0 0 1 * MON',
  '30 */3 * * *',
  '45 0-4 * * *',
]
/** Some put their clock forward and back by an hour, by half of one and by two, one not at all. */
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Antarctica/Troll',
  'America/Santiago',
  'Asia/Kolkata',
]
const POLICIES = ['latest', 'skip', 'all'] as const

/** Each expression once, each policy with each zone over some seeds. */
export function drawYearCrons(random: SeededRandom): ReadonlyMap<string, CronSettings> {
  return new Map(
    EXPRESSIONS.map((cronExpression, i) => [
      `cron-${i}`,
      cronSettings({
        url: `http://target.test/cron-${i}`,
        cronExpression,
        timeZone: random.pick(ZONES),
        missedRunPolicy: random.pick(POLICIES),
        concurrencyPolicy: random.pick(['allow', 'forbid']),
        startingDeadlineSeconds: random.pick([null, null, 90, 7_200]),
        jitterSeconds: random.pick([0, 0, 45, 3_600]),
        queue: random.pick([null, null, 'alpha']),
        timeoutSeconds: 2,
      }),
    ]),
  )
}

/** The time in which executors live, about a tick; between two of them none does. */
export interface Visit {
  /** When it begins: that long after the next tick; negative = before it. */
  readonly fromTickMs: number
  readonly executors: readonly VisitingExecutor[]
  readonly network: NetworkFaults
  /** After its beginning. */
  readonly outage: { readonly atMs: number; readonly forMs: number } | null
  /** The clock of Redis is set before it begins; 0 = it is not. */
  readonly clockMs: number
  /** It ends when all is done, and at the latest then. */
  readonly lastsMs: number
}

export interface VisitingExecutor {
  /** After the visit's beginning. */
  readonly startMs: number
  /** When it dies, after the visit's beginning; null = it stops in order at the end. */
  readonly killMs: number | null
}

export function drawVisit(random: SeededRandom): Visit {
  const fromTickMs = random.chance(0.75) ? -random.between(100, 6_000) : random.pick(awayTimes(random))
  const tickMs = Math.max(0, -fromTickMs)
  const isLong = random.chance(0.03)
  return {
    fromTickMs,
    network: random.chance(0.4) ? drawNetwork(random) : NO_FAULTS,
    executors: Array.from({ length: random.pick([1, 1, 2, 3]) }, () => drawExecutor(random, tickMs)),
    outage: random.chance(0.05)
      ? { atMs: Math.max(0, tickMs + random.between(-50, 500)), forMs: random.between(50, 20_000) }
      : null,
    clockMs: random.chance(0.03) ? random.pick(CLOCK_STEPS_MS) : 0,
    // Leases of the dead end only where somebody lives on for longer than they last.
    lastsMs: isLong ? 25_000 : tickMs + random.pick([300, 1_500, 6_000]),
  }
}

const CLOCK_STEPS_MS = [-HOUR_MS, -90_000, -4_000, -1_000, 1_500, 9_000, 90_000, 5 * HOUR_MS]

function awayTimes(random: SeededRandom): number[] {
  return [
    random.between(0, MINUTE_MS),
    random.between(MINUTE_MS, HOUR_MS),
    random.between(HOUR_MS, DAY_MS),
    random.between(0, DAY_MS),
    random.between(DAY_MS, 9 * DAY_MS),
  ]
}

/** Half of those that die do so while the tick is read, decided about, written, or its run begun. */
function drawExecutor(random: SeededRandom, tickMs: number): VisitingExecutor {
  const startMs = random.between(0, random.pick([5, tickMs]))
  const killMs = startMs + random.between(0, 20)
  const aboutTickMs = tickMs + random.pick([random.between(-5, 15), random.between(0, 700)])
  return { startMs, killMs: random.chance(0.35) ? random.pick([killMs, aboutTickMs]) : null }
}
