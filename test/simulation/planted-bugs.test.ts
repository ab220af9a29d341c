import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { loadScripts, type StepName } from '../../src/redis/steps.ts'
import { drawCronPlan } from './crons/cron-plan.ts'
import { NO_FAULTS } from './redis/simulated-connection.ts'
import { drawRatePlan } from './rates/rate-plan.ts'
import { drawPlan, FAULTS, ROOMY_BYTES, type Plan } from './story/plan.ts'
import { SeededRandom } from './story/seeded-random.ts'
import { runSeed } from './story/seeds.ts'

interface Planted {
  readonly bug: string
  readonly script: StepName
  readonly right: string
  readonly wrong: string
  /** Stories of the faults that show the bug, for it shows in fewer than one story of a hundred otherwise. */
  readonly sharpen?: (plan: Plan) => Plan
}

/** Executors sleep for longer than their leases last, while calls take long: their jobs are others' when they wake. */
function withSleepers(plan: Plan): Plan {
  const random = new SeededRandom(plan.seed)
  const executors = 3
  const sleeps = Array.from({ length: 12 }, () => ({
    atMs: random.between(500, plan.activeMs),
    what: 'freeze' as const,
    executor: random.integer(0, executors - 1),
    forMs: random.between(16_000, 25_000),
    stall: random.chance(0.3),
  }))
  const events = [...plan.events.filter(({ what }) => !FAULTS.has(what)), ...sleeps]
  return {
    ...plan,
    executors,
    poison: null,
    queues: new Map([...plan.queues].map(([name, queue]) => [name, { ...queue, timeoutSeconds: 40 }])),
    habits: { ...plan.habits, failing: 0, slow: 0.7, slowMs: 9_000 },
    events: events.toSorted((a, b) => a.atMs - b.atMs),
  }
}

/** Every seventh answer is lost, so that most steps are sent again. */
function withLostAnswers(plan: Plan): Plan {
  return { ...plan, shards: 1, callBytes: ROOMY_BYTES, network: { ...NO_FAULTS, lostAfter: 0.15 } }
}

/** Every fifth answer is lost, and so the answers of claims that were sent again are late. */
function withLostClaims(plan: Plan): Plan {
  return { ...plan, network: { ...plan.network, lostAfter: 0.2, slow: 0.05, slowMs: 300 } }
}

/** Bugs planted in the steps. Each must be found within this many seeds. */
const PLANTED: readonly Planted[] = [
  {
    bug: 'finish ends jobs that are not held',
    script: 'finish',
    right: 'holders[position] == queue.holder and not',
    wrong: 'not',
  },
  {
    bug: 'finish ends plain jobs that are not held',
    script: 'finish',
    right: 'if holders[i] ~= holder then return false end',
    wrong: '',
    sharpen: withSleepers,
  },
  {
    bug: 'claim forgets the slots in use',
    script: 'claim',
    right: "(tonumber(live[2]) or 1) - call('ZCARD', in_flight)",
    wrong: '(tonumber(live[2]) or 1)',
  },
  {
    bug: 'a claim sent again takes other jobs',
    script: 'claim',
    right: 'if (request_id or claim) ~= ARGV[3] then',
    wrong: 'if true then',
    sharpen: withLostAnswers,
  },
  {
    bug: 'finish frees no slot',
    script: 'finish',
    right: "call('ZREM', queue.inFlight, unpack(queue.freed))",
    wrong: 'local _ = 0',
  },
  {
    bug: 'finish frees no slot of a plain job',
    script: 'finish',
    right: "call('ZREM', queue.inFlight, unpack(ids, place.before + 1, place.last))",
    wrong: '',
  },
  {
    bug: 'reap counts no loss',
    script: 'reap',
    right: 'string.sub(body, 1, 14) .. losses .. string.sub(body, 16)',
    wrong: 'body',
  },
  {
    bug: 'reap takes jobs of a live executor',
    script: 'reap',
    right: 'tonumber(lease) + margin > now',
    wrong: 'tonumber(lease) - 100000 > now',
  },
  {
    bug: 'a jump of the clock ends leases',
    script: 'beat',
    right: 'now + lease_ms, executor',
    wrong: 'now - lease_ms, executor',
  },
  {
    bug: 'dead letters call nobody back',
    script: 'finish',
    right: 'if job.callback then',
    wrong: "if job.callback and job.kind ~= 'd' then",
  },
]
/** As above, found by stories of crons. */
const PLANTED_IN_CRONS: readonly Planted[] = [
  {
    bug: 'a tick that was decided about is decided about again',
    script: 'tick',
    right: 'tick ~= cron.expected or',
    wrong: '',
  },
  {
    bug: 'a plain tick that was decided about is decided about again',
    script: 'tick',
    right: 'tick == like.expected',
    wrong: 'true',
  },
  {
    bug: 'a plain tick is noted and has no run',
    script: 'tick',
    right: 'ticking[n], bodies[n], ticks[n] = i,',
    wrong: 'local _, _, _ = i,',
  },
  {
    bug: 'the next tick is not listed',
    script: 'tick',
    right: "call('ZADD', KEYS[8], unpack(due_next))",
    wrong: "call('ZREM', KEYS[8], due_next[2])",
  },
  {
    bug: 'a tick is noted and has no run',
    script: 'tick',
    right: 'start(cron.queue, run, due, due_text)',
    wrong: '',
  },
  {
    bug: 'the end of a run is not noted',
    script: 'finish',
    right: "call('LSET', run.cronRecords, position,",
    wrong: 'local _ = (',
  },
  {
    bug: 'every run that has ended has failed',
    script: 'finish',
    right: "local letter = succeeded and 's' or 'f'",
    wrong: "local letter = 'f'",
  },
]
/** As above, found by stories of queues with a rate. */
const PLANTED_IN_RATES: readonly Planted[] = [
  {
    bug: 'a call may begin however late the answer to its claim comes',
    script: 'claim',
    right: 'math.floor(flow.rate.late - UNSEEN_MS)',
    wrong: '3600000',
  },
  {
    bug: 'a claim sent again is said to be of now',
    script: 'claim',
    right: 'if begun_at then begin_at = tonumber(begun_at) end',
    wrong: '',
    sharpen: withLostClaims,
  },
  {
    bug: 'the next begin counts from the claim and not from its lead on',
    script: 'claim',
    right: 'Flow.begin(queue.flow, begin_at,',
    wrong: 'Flow.begin(queue.flow, now,',
  },
]
const SEEDS_UNTIL_FOUND = 100

describe('a bug in a step is found', () => {
  const planted = [
    ...PLANTED.map((each) => ({ ...each, draw: drawPlan })),
    ...PLANTED_IN_CRONS.map((each) => ({ ...each, draw: drawCronPlan })),
    ...PLANTED_IN_RATES.map((each) => ({ ...each, draw: drawRatePlan })),
  ]

  test.each<Planted & { draw(seed: number): Plan }>(planted)('$bug', { timeout: 120_000 }, async (bug) => {
    const { script, right, wrong, draw, sharpen = (plan: Plan) => plan } = bug
    let isPlanted = false
    const scripts = loadScripts((source, name) => {
      if (name !== script) return source
      isPlanted = source.includes(right)
      return source.replaceAll(right, wrong)
    })
    assert.ok(isPlanted, 'the step has changed: plant the bug in its new text')
    for (let seed = 1; seed <= SEEDS_UNTIL_FOUND; seed += 1) {
      if ((await runSeed(seed, { scripts, plan: sharpen(draw(seed)) })).problems.length > 0) return
    }
    assert.fail(`not found in ${SEEDS_UNTIL_FOUND} seeds`)
  })
})
