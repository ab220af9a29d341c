import { drawPlan, type Plan, type PlannedEvent } from '../story/plan.ts'
import { SeededRandom } from '../story/seeded-random.ts'

/** How often each push is made, so that jobs wait for the rate of their queue. */
const PUSHES = 2

/** How many answers are slow, and by how much. With more of the slowest ones executors lose their leases, and rightly. */
const SLOW = [
  { slow: 0.5, slowMs: 50 },
  { slow: 0.5, slowMs: 300 },
  { slow: 0.1, slowMs: 300 },
  { slow: 0.1, slowMs: 1_000 },
  { slow: 0.02, slowMs: 1_500 },
]

/**
 * A story in which every queue has a rate, nothing else keeps its jobs back, and answers of Redis are slow, lost and late:
 * calls begin beside those of the next claims unless the executor sees to it.
 */
export function drawRatePlan(seed: number): Plan {
  const random = new SeededRandom(seed ^ 0x4a7e)
  const plan = drawPlan(seed)
  const queues = new Map(
    [...plan.queues].map(([name, settings]) => {
      const rateLimit = { limit: random.pick([2, 3, 6, 20]), periodSeconds: random.pick([1, 1, 2]) }
      return [name, { ...settings, maxParallelism: null, circuitBreaker: null, rateLimit }]
    }),
  )
  return {
    ...plan,
    queues,
    poison: null,
    network: {
      lostBefore: random.pick([0, 0.01]),
      lostAfter: random.pick([0.01, 0.05]),
      late: random.pick([0, 0.3]),
      ...random.pick(SLOW),
    },
    events: plan.events.flatMap((event) => repeated(event)),
  }
}

function repeated(event: PlannedEvent): PlannedEvent[] {
  return event.what === 'push' ? Array.from({ length: PUSHES }, () => event) : [event]
}
