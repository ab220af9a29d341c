import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  judgeQueue,
  judgeQuota,
  judgeQuotas,
  judgeStorage,
  queueLimitFacts,
  quotaFacts,
  storageFacts,
  warningChange,
  type LimitFinding,
  type QueueReading,
  type StandingWarning,
} from '../../../../src/domain/alerts/limit-rules.ts'
import { limitMessage } from '../../../../src/domain/alerts/limit-message.ts'
import { quotasOf } from '../../../../src/domain/quotas.ts'

const MINUTE_MS = 60_000

function reading(change: Partial<QueueReading> = {}): QueueReading {
  return {
    alertsEnabled: true,
    isActive: true,
    maxParallelism: 5,
    slotsTaken: 5,
    ready: 3,
    oldestReadyMs: 6 * MINUTE_MS,
    addedDeadLetters: 0,
    expiringDeadLetters: 0,
    ...change,
  }
}

describe('a saturated queue', () => {
  it.each<[string, Partial<QueueReading>, LimitFinding['kind']]>([
    ['is at its limit and its oldest job waits', {}, 'over'],
    ['is above a limit that was lowered', { slotsTaken: 9 }, 'over'],
    ['has waited for no more than five minutes', { oldestReadyMs: 5 * MINUTE_MS }, 'between'],
    ['has a slot free between two calls', { slotsTaken: 4 }, 'between'],
    ['still waits for two and a half minutes', { oldestReadyMs: 2.5 * MINUTE_MS }, 'between'],
    ['waits for less', { oldestReadyMs: 2.5 * MINUTE_MS - 1 }, 'clear'],
    ['has nothing ready', { oldestReadyMs: null }, 'clear'],
    ['is paused', { isActive: false }, 'clear'],
    ['has no limit', { maxParallelism: null }, 'clear'],
    ['has alerts switched off', { alertsEnabled: false }, 'clear'],
  ])('%s', (_, change, kind) => {
    expect(judgeQueue('queue_saturated', reading(change)).kind).toBe(kind)
  })
})

it.each([
  [100, 'over'],
  [99, 'between'],
  [50, 'between'],
  [49, 'clear'],
])('%i dead letters within an hour: %s', (addedDeadLetters, kind) => {
  expect(judgeQueue('dead_letters_growing', reading({ addedDeadLetters })).kind).toBe(kind)
  const silent = reading({ addedDeadLetters, alertsEnabled: false })
  expect(judgeQueue('dead_letters_growing', silent).kind).toBe('clear')
})

it.each([
  [1, true, 'over'],
  [0, true, 'clear'],
  [1, false, 'clear'],
])('%i expiring dead letters, alerts %s: %s', (expiringDeadLetters, alertsEnabled, kind) => {
  expect(judgeQueue('dead_letters_expiring', reading({ expiringDeadLetters, alertsEnabled })).kind).toBe(kind)
})

it.each([
  [801, 1000, 'over'],
  [800, 1000, 'between'],
  [750, 1000, 'between'],
  [749, 1000, 'clear'],
  [749, 0, 'clear'],
])('%i bytes used of %i: %s', (usedBytes, maxBytes, kind) => {
  expect(judgeStorage({ usedBytes, maxBytes }).kind).toBe(kind)
})

it.each<[number, number | null, LimitFinding]>([
  [10, 10, { kind: 'over', level: 2 }],
  [11, 10, { kind: 'over', level: 2 }],
  [9, 10, { kind: 'over', level: 1 }],
  [8, 10, { kind: 'over', level: 1 }],
  [7, 10, { kind: 'between' }],
  [6, 10, { kind: 'clear' }],
  [10, null, { kind: 'clear' }],
  [10, 0, { kind: 'clear' }],
])('%i of a quota of %s', (used, limit, finding) => {
  expect(judgeQuota(used, limit)).toEqual(finding)
})

it('judges each quota of a team', () => {
  const usage = { queues: 9, crons: 1, pendingJobs: 10, storedBytes: 7, jobsPerMonth: 5, callsInFlight: 0 }
  const quotas = quotasOf({ queues: 10, crons: 10, pendingJobs: 10, storedBytes: 10, jobsPerMonth: 0 })
  const findings = judgeQuotas(usage, quotas).map(({ name, finding }) => [name, finding.kind])
  expect(Object.fromEntries(findings)).toEqual({
    queues: 'over',
    crons: 'clear',
    pendingJobs: 'over',
    storedBytes: 'between',
    jobsPerMonth: 'clear',
    callsInFlight: 'clear',
  })
})

describe('a warning', () => {
  const OVER = { kind: 'over', level: 1 } as const
  const standing: StandingWarning = { level: 1, isMuted: false }
  const muted: StandingWarning = { level: 1, isMuted: true }

  it.each<[string, StandingWarning | null, LimitFinding, boolean, ReturnType<typeof warningChange>]>([
    ['is raised', null, OVER, false, 'raise'],
    ['is raised once', standing, OVER, false, null],
    ['is raised again at a higher level', standing, { kind: 'over', level: 2 }, false, 'raise'],
    ['stays down between its bounds', null, { kind: 'between' }, false, null],
    ['stays up between its bounds', standing, { kind: 'between' }, false, null],
    ['clears', standing, { kind: 'clear' }, false, 'clear'],
    ['clears under a window', muted, { kind: 'clear' }, true, 'clear'],
    ['is raised once under a window', muted, OVER, true, null],
    ['is raised again after the window that muted it', muted, OVER, false, 'raise'],
    ['is not raised again by a window', standing, OVER, true, null],
  ])('%s', (_, before, finding, isMuted, change) => {
    expect(warningChange(before, finding, isMuted)).toBe(change)
  })

  it('is raised as often as the value crosses both bounds', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 120 }), { maxLength: 60 }), (values) => {
        let now: StandingWarning | null = null
        let raised = 0
        for (const used of values) {
          const finding = judgeQuota(used, 100)
          const change = warningChange(now, finding, false)
          if (change === 'clear') now = null
          if (change === 'raise' && finding.kind === 'over') {
            raised += 1
            now = { level: finding.level, isMuted: false }
          }
        }
        // The values that matter, one word each: what lies between the bounds changes nothing.
        const word = values
          .map((used) => (used < 70 ? 'c' : used >= 100 ? 'f' : used >= 80 ? 'n' : ''))
          .join('')
        const stretches = word.split('c').filter((stretch) => stretch !== '')
        const expected = stretches.map((stretch) =>
          /nf|n.*f/.test(stretch) && !stretch.startsWith('f') ? 2 : 1,
        )
        expect(raised).toBe(expected.reduce<number>((sum, one) => sum + one, 0))
      }),
      { numRuns: 200 },
    )
  })
})

describe('what a warning says', () => {
  const queue = reading({
    oldestReadyMs: 7.9 * MINUTE_MS,
    ready: 1204,
    expiringDeadLetters: 1,
    addedDeadLetters: 250,
  })

  it.each([
    [
      limitMessage('reports', 'queue_saturated', queueLimitFacts('queue_saturated', queue)),
      'Queue reports is at its limit of 5 parallel calls: 1,204 jobs wait, the oldest for 7 minutes.',
    ],
    [
      limitMessage(
        'reports',
        'queue_saturated',
        queueLimitFacts(
          'queue_saturated',
          reading({ maxParallelism: 1, ready: 1, oldestReadyMs: 50 * 3_600_000 }),
        ),
      ),
      'Queue reports is at its limit of 1 parallel call: 1 job waits, the oldest for 2 days.',
    ],
    [
      limitMessage('reports', 'dead_letters_growing', queueLimitFacts('dead_letters_growing', queue)),
      'Queue reports got 250 dead letters within an hour.',
    ],
    [
      limitMessage('reports', 'dead_letters_expiring', queueLimitFacts('dead_letters_expiring', queue)),
      '1 dead letter of queue reports will be purged within 24 hours: replay it before.',
    ],
    [
      limitMessage('acme', 'storage_nearly_full', storageFacts({ usedBytes: 839, maxBytes: 1000 })),
      'The job store is 83% full; from about 90% on it takes no new jobs.',
    ],
    [
      limitMessage(
        'acme',
        'quota_nearly_used',
        quotaFacts([
          { name: 'pendingJobs', used: 8290, limit: 10_000, finding: { kind: 'over', level: 1 } },
          { name: 'queues', used: 29, limit: 29, finding: { kind: 'over', level: 2 } },
        ]),
      ),
      'Team acme has used 82% of its quota of pending jobs (pendingJobs: 8,290 of 10,000), ' +
        '100% of its quota of queues (queues: 29 of 29).',
    ],
  ])('%s', (message, expected) => {
    expect(message).toBe(expected)
  })
})
