import { NO_FAULTS } from '../redis/simulated-connection.ts'
import { drawPlan, FAULTS, teamOf, THROWING_STEPS, type Plan, type PlannedEvent } from '../story/plan.ts'
import { SeededRandom } from '../story/seeded-random.ts'

/** Its team is not that of the other queues. */
const THROWING_QUEUE = 'beta'
/** Seeds of stories are this far apart, so that those without the queue can be passed over. */
const STORIES_APART = 1_000

/** A story in which a step throws for one team, mostly without any other fault: then everything else must be exact. */
export function drawThrowPlan(seed: number): Plan {
  const random = new SeededRandom(seed ^ 0x7409)
  let plan = drawPlan(seed * STORIES_APART)
  for (let n = 1; !plan.queues.has(THROWING_QUEUE); n += 1) plan = drawPlan(seed * STORIES_APART + n)
  const at = random.pick(THROWING_STEPS)
  const isCalm = random.chance(0.7)
  const queues = new Map(
    [...plan.queues].map(([name, settings]) => [name, { ...settings, alertsEnabled: at === 'window' }]),
  )
  const events = isCalm ? plan.events.filter(({ what }) => !FAULTS.has(what)) : plan.events
  return {
    ...plan,
    seed,
    queues,
    poison: null,
    thrower: { team: teamOf(THROWING_QUEUE), at },
    ...(isCalm ? { network: NO_FAULTS, hintLoss: 0, habits: { ...plan.habits, localFault: 0 } } : {}),
    events: at === 'judgement' ? events.map(withUnknownAssertion) : events,
  }
}

/** As another version may have stored it. */
function withUnknownAssertion(event: PlannedEvent): PlannedEvent {
  if (event.what !== 'push' || event.job.queue !== THROWING_QUEUE) return event
  const successAssertions = [{ type: 'json_path_equals', value: '$.ok' }] as never
  return { ...event, job: { ...event.job, request: { ...event.job.request, successAssertions } } }
}
