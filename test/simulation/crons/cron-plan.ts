import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import { cronSettings } from '../../support/engine/cron-settings.ts'
import { drawNetwork, type Plan, type PlannedEvent, ROOMY_BYTES } from '../story/plan.ts'
import { SeededRandom } from '../story/seeded-random.ts'
import { NO_FAULTS } from '../redis/simulated-connection.ts'
import { SIMULATION_EPOCH_MS } from '../story/simulated-process.ts'

const MINUTE_MS = 60_000

/** A story of crons that tick every minute or so, while executors die, mostly about when they tick. */
export function drawCronPlan(seed: number): Plan {
  const random = new SeededRandom(seed ^ 0xc407)
  const activeMs = random.integer(2, 6) * MINUTE_MS
  const executors = random.integer(1, 4)
  const isCalm = random.chance(0.05)
  const queues = new Map(
    ['alpha', 'beta'].map((name) => [
      name,
      {
        ...DEFAULT_QUEUE_SETTINGS,
        timeoutSeconds: random.pick([1, 3, 10]),
        maxParallelism: random.pick([null, 1, 3]),
        retryDelays: random.pick([[1], [1, 4]]),
      },
    ]),
  )
  const crons = new Map(
    Array.from({ length: random.integer(1, 12) }, (_, i) => [
      `cron-${i}`,
      cronSettings({
        url: `http://target.test/cron-${i}`,
        cronExpression: random.pick(['* * * * *', '* * * * *', '*/2 * * * *', '0 * * * *']),
        concurrencyPolicy: random.pick(['allow', 'allow', 'forbid']),
        missedRunPolicy: random.pick(['latest', 'skip', 'all']),
        startingDeadlineSeconds: random.pick([null, null, 90]),
        jitterSeconds: random.pick([0, 0, 0, 20]),
        queue: random.pick([null, null, 'alpha', 'beta', 'unknown']),
        timeoutSeconds: random.pick([1, 5]),
        payload: random.pick([null, null, 'x'.repeat(5_000)]),
      }),
    ]),
  )
  return {
    seed,
    activeMs,
    executors,
    queues,
    crons,
    shards: random.integer(1, 3),
    concurrency: random.pick([2, 16]),
    callBytes: ROOMY_BYTES,
    network: !isCalm && random.chance(0.6) ? drawNetwork(random) : NO_FAULTS,
    hintLoss: random.pick([0, 1]),
    habits: {
      failing: random.pick([0, 0.3]),
      hanging: 0,
      slow: 0.1,
      slowMs: 3_000,
      localFault: 0,
      isAsking: false,
    },
    poison: null,
    thrower: null,
    events: isCalm ? [] : drawFaults(random, executors, activeMs),
  }
}

function drawFaults(random: SeededRandom, executors: number, activeMs: number): PlannedEvent[] {
  const toMinuteMs = MINUTE_MS - (SIMULATION_EPOCH_MS % MINUTE_MS)
  const at = () => {
    if (random.chance(0.2)) return random.between(500, activeMs)
    // Just before, or while the ticks are read, decided about, and their runs begun.
    const minute = random.integer(0, Math.floor(activeMs / MINUTE_MS) - 1)
    return toMinuteMs + minute * MINUTE_MS + random.pick([random.between(-5, 15), random.between(-50, 500)])
  }
  const executor = () => random.integer(0, executors - 1)
  const events: PlannedEvent[] = []
  const times = (share: number, most: number) => (random.chance(share) ? random.integer(1, most) : 0)
  for (let i = random.integer(5, 60); i > 0; i -= 1) {
    const restartMs = random.pick([random.between(50, 500), random.between(50, 9_000)])
    events.push({ atMs: at(), what: 'kill', executor: executor(), restartMs })
  }
  for (let i = times(0.2, 2); i > 0; i -= 1) {
    const forMs = random.pick([random.between(500, 4_000), random.between(15_000, 40_000)])
    events.push({ atMs: at(), what: 'freeze', executor: executor(), forMs, stall: random.chance(0.3) })
  }
  for (let i = times(0.2, 2); i > 0; i -= 1) {
    events.push({ atMs: at(), what: 'cut', executor: executor(), forMs: random.between(200, 30_000) })
  }
  for (let i = times(0.2, 2); i > 0; i -= 1) {
    events.push({ atMs: at(), what: 'outage', forMs: random.between(50, 90_000), loadingMs: 0 })
  }
  for (let i = times(0.2, 2); i > 0; i -= 1) {
    const byMs = random.pick([1_500, 8_000, 25_000, 3_600_000, -1_500, -9_000, -25_000, -90_000])
    events.push({ atMs: at(), what: 'clock', byMs })
  }
  return events.filter(({ atMs }) => atMs > 100 && atMs < activeMs).toSorted((a, b) => a.atMs - b.atMs)
}
