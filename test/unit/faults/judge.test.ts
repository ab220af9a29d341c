import { describe, expect, test } from 'vitest'
import { NOTHING_ALLOWED } from '../../faults/checker/figures.ts'
import { judge, TOLD_WITHIN_MS, type ChainEnd, type Evidence, type Told } from '../../faults/checker/judge.ts'
import { CALLBACK_PATH, LIMIT, PACE, PUSH_HEADER, type PushDraw } from '../../faults/load/push-mix.ts'
import type { PushRecord } from '../../faults/load/push-record.ts'
import type { Arrival } from '../../support/targets/target.ts'

const draw = (rest: Partial<PushDraw> = {}): PushDraw => ({
  n: 7,
  kind: 'retried',
  queue: 'load-1',
  delaySeconds: 0,
  isCalledBack: true,
  isRepeated: false,
  ...rest,
})

const record = (rest: Partial<PushRecord> = {}): PushRecord => ({
  draw: draw(),
  sentAtMs: 1_000,
  tookMs: 5,
  status: 201,
  saysWhen: false,
  jobId: 64,
  scheduledAtMs: 1_002,
  ...rest,
})

const arrival = (rest: Partial<Arrival> = {}): Arrival => ({
  path: '/retried',
  method: 'POST',
  jobId: 64,
  attempt: 1,
  token: '0-1',
  webhookId: 'w',
  headers: { [PUSH_HEADER]: '7' },
  body: '{}',
  bytes: Buffer.from('{}'),
  arrivedAtMs: 1_010,
  closedAtMs: 1_011,
  wasAnswered: true,
  ...rest,
})

const callback = (jobId: number) =>
  arrival({ path: CALLBACK_PATH, jobId: null, attempt: null, body: JSON.stringify({ job_number: jobId }) })
const first = arrival()
const second = arrival({ jobId: 68, attempt: 2, token: '0-2', arrivedAtMs: 2_015 })
const ended: ChainEnd = { finalStatus: 'success', attempts: [1, 2], startedAtMs: [1_008, 2_014] }

/** One push whose first attempt failed, as it should be. */
const sound: Evidence = {
  records: [record()],
  arrivals: [first, second, callback(64)],
  ends: new Map([[7, ended]]),
  mostLimited: LIMIT,
  findings: [],
  forgotten: null,
  told: [],
  alerts: { warning: 0, failure: 0 },
  ticks: { due: [60_000], ticked: [{ runs: [60_000], calls: 1 }] },
}

const complaintsOf = (rest: Partial<Evidence>, allowed = NOTHING_ALLOWED) =>
  judge({ ...sound, ...rest }, allowed).complaints

describe('the checker', () => {
  test('has nothing to say where all is well, and counts', () => {
    const { figures, complaints } = judge(sound, NOTHING_ALLOWED)
    expect(complaints).toEqual([])
    expect(figures).toMatchObject({ accepted: 1, lost: 0, doubled: 0, early: 0, overLimit: 0, leaked: 0 })
  })

  test.each<[string, Partial<Evidence>]>([
    ['lost: job 64', { ends: new Map() }],
    ['lost: job 64', { ends: new Map([[7, { finalStatus: null, attempts: [1], startedAtMs: [1_008] }]]) }],
    ['called early: push 7, attempt 1', { records: [record({ scheduledAtMs: 1_011 })] }],
    [
      'called early: push 7, attempt 2',
      { arrivals: [first, { ...second, arrivedAtMs: 2_009 }, callback(64)] },
    ],
    ['2 calls over the limit', { mostLimited: LIMIT + 2 }],
    [
      'called too often: push 7, attempt 1: 2 calls',
      { arrivals: [first, { ...first, token: '0-9' }, second, callback(64)] },
    ],
    ['called twice by one claim: job 64 under 0-1', { arrivals: [first, first, second, callback(64)] }],
    [
      'not as accepted: push 7 is job 64 and was called as 65',
      { arrivals: [{ ...first, jobId: 65 }, callback(64)] },
    ],
    [
      'not as accepted: push 9 was called and not sent',
      { arrivals: [...sound.arrivals, arrival({ headers: { [PUSH_HEADER]: '9' }, token: '0-9' })] },
    ],
    [
      'not as accepted: push 7 was refused and called',
      { records: [record({ status: 429, saysWhen: true, jobId: null })] },
    ],
    ['ended wrongly: job 64', { ends: new Map([[7, { ...ended, finalStatus: 'dead_lettered' }]]) }],
    ['ended wrongly: job 64', { ends: new Map([[7, { ...ended, attempts: [1, 3] }]]) }],
    ['ended wrongly: 2 pushes have 1 ids', { records: [record(), record({ draw: draw({ n: 7 }) })] }],
    ['reported wrongly: job 64 by 0 callbacks', { arrivals: [first, second] }],
    ['reported wrongly: job 64 by 2 callbacks', { arrivals: [...sound.arrivals, callback(64)] }],
    ['refused wrongly: push 7 by 500', { records: [record(), record({ status: 500, jobId: null })] }],
    [
      'refused wrongly: push 7 by 503 without Retry-After',
      { records: [record(), record({ status: 503, jobId: null })] },
    ],
    ['1 alerts of the type failure, not 0 to 0', { alerts: { warning: 0, failure: 1 } }],
    [
      '0 alerts of the type warning, not 1 to 1',
      { records: [record({ draw: draw({ kind: 'dead' }) })], alerts: { warning: 0, failure: 1 } },
    ],
    [
      'cron 0 has no run of 1970-01-01T00:01:00.000Z',
      { ticks: { due: [60_000], ticked: [{ runs: [], calls: 0 }] } },
    ],
    [
      'cron 0 has runs of 60000, 60000',
      { ticks: { due: [], ticked: [{ runs: [60_000, 60_000], calls: 2 }] } },
    ],
    ['cron 0 by 2 calls of 1 runs', { ticks: { due: [], ticked: [{ runs: [60_000], calls: 2 }] } }],
    ['cron 0 by 0 calls of 1 runs', { ticks: { due: [], ticked: [{ runs: [60_000], calls: 0 }] } }],
    ['left behind: a slot', { findings: ['a slot'] }],
  ])('says: %s', (complaint, evidence) => {
    expect(complaintsOf(evidence)).toContainEqual(expect.stringContaining(complaint))
  })

  test('allows what a fault may do, and no more', () => {
    const again = { ...first, token: '0-9' }
    const doubled = { arrivals: [first, again, second, callback(64), callback(64)] }
    expect(complaintsOf(doubled, { ...NOTHING_ALLOWED, moreCalls: 1 })).toEqual([])
    const thrice = { arrivals: [...doubled.arrivals, { ...again, token: '0-8' }] }
    expect(complaintsOf(thrice, { ...NOTHING_ALLOWED, moreCalls: 1 })).toHaveLength(1)
  })

  test('counts what a power cut took, and asks nothing of it', () => {
    const forgotten = { fromMs: 900, toMs: 1_100, takesAccepted: true }
    const told = [{ atMs: 1_200, jobs: 1 }]
    const taken = { ...sound, arrivals: [], ends: new Map<number, ChainEnd>(), forgotten, told }
    expect(judge(taken, NOTHING_ALLOWED)).toMatchObject({
      figures: { accepted: 1, lost: 1, told: 1 },
      complaints: [],
    })
    const later = { ...taken, forgotten: { ...forgotten, fromMs: 1_006 }, told: [] }
    expect(judge(later, NOTHING_ALLOWED).complaints).toEqual([
      'lost: job 64',
      expect.stringContaining('reported'),
    ])
    // What is still there has to be right all the same.
    const kept = { ...taken, ends: sound.ends, told: [] }
    expect(judge(kept, NOTHING_ALLOWED)).toMatchObject({
      figures: { lost: 0 },
      complaints: [expect.stringContaining('reported')],
    })
  })

  test.each<[string, readonly Told[]]>([
    ['0 jobs are told as lost, 1 are', []],
    ['2 jobs are told as lost, 1 are', [{ atMs: 1_200, jobs: 2 }]],
    ['0 jobs are told as lost, 1 are', [{ atMs: 1_101 + TOLD_WITHIN_MS, jobs: 1 }]],
    ['1 jobs are told as lost at another time', [{ atMs: 800, jobs: 1 }]],
  ])('says: %s', (complaint, told) => {
    const forgotten = { fromMs: 900, toMs: 1_100, takesAccepted: true }
    const taken = { arrivals: [], ends: new Map<number, ChainEnd>(), forgotten, told }
    expect(complaintsOf(taken)).toContain(complaint)
  })

  test('lets a push be two jobs where Redis may have forgotten the first, and lose none that it accepted', () => {
    const refused = record({ sentAtMs: 950, status: 503, saysWhen: true, jobId: null, scheduledAtMs: null })
    const before = { ...first, jobId: 60, token: '0-7', arrivedAtMs: 990 }
    const twice = { records: [refused, record()], arrivals: [before, ...sound.arrivals] }
    const forgotten = { fromMs: 900, toMs: 990, takesAccepted: false }
    const allowed = { ...NOTHING_ALLOWED, moreCalls: 1 }
    expect(complaintsOf({ ...twice, forgotten }, allowed)).toEqual([])
    expect(complaintsOf(twice, allowed)).toContainEqual(expect.stringContaining('was called as 60, 64'))
    const taken = { records: [record()], ends: new Map<number, ChainEnd>(), forgotten }
    expect(complaintsOf(taken, allowed)).toContain('lost: job 64')
  })

  test('lets a forgotten claim be made again under its token, also when its call was late, but no other', () => {
    const allowed = { ...NOTHING_ALLOWED, moreCalls: 1 }
    const again = { arrivals: [first, first, second, callback(64)] }
    const forgottenUntil = (toMs: number) => ({ fromMs: toMs - 100, toMs, takesAccepted: false })
    expect(complaintsOf({ ...again, forgotten: forgottenUntil(1_010 - 5_000) }, allowed)).toEqual([])
    for (const toMs of [1_009 - 5_000, 1_111]) {
      expect(complaintsOf({ ...again, forgotten: forgottenUntil(toMs) }, allowed)).toEqual([
        'called twice by one claim: job 64 under 0-1',
      ])
    }
  })

  test('takes a push without an answer for a job or for none', () => {
    const unknown = record({ status: null, jobId: null, scheduledAtMs: null })
    expect(complaintsOf({ records: [unknown], ends: new Map() })).toEqual([])
    expect(complaintsOf({ records: [unknown], arrivals: [], ends: new Map() })).toEqual([])
    const two = [first, { ...first, jobId: 65, token: '0-5' }]
    expect(complaintsOf({ records: [unknown], arrivals: two, ends: new Map() })).toContainEqual(
      expect.stringContaining('not as accepted: push 7 is job null and was called as 64, 65'),
    )
  })

  test('says when jobs begin faster than their limit, but for what Redis has forgotten', () => {
    /** As many jobs as the limit at once, and one more. */
    const begun = (afterMs: number, heldUpMs = 0): Partial<Evidence> => {
      const startsMs = [...Array.from({ length: PACE.limit }, () => 2_000), 2_000 + afterMs]
      const records = startsMs.map((_, n) =>
        record({ draw: draw({ n, kind: 'paced', isCalledBack: false }), jobId: 64 + n }),
      )
      return {
        records,
        arrivals: startsMs.map((atMs, n) =>
          arrival({
            jobId: 64 + n,
            headers: { [PUSH_HEADER]: String(n) },
            arrivedAtMs: n === PACE.limit ? atMs : atMs + heldUpMs,
          }),
        ),
        ends: new Map(
          startsMs.map((atMs, n) => [n, { finalStatus: 'success', attempts: [1], startedAtMs: [atMs] }]),
        ),
      }
    }
    const periodMs = PACE.period_seconds * 1_000
    expect(complaintsOf(begun(periodMs))).toEqual([])
    const soon = begun(periodMs - 1)
    expect(complaintsOf(soon)).toEqual([`begun too fast: ${PACE.limit + 1} jobs in ${periodMs - 1} ms`])
    const forgotten = { fromMs: 2_100, toMs: 2_200, takesAccepted: false }
    expect(complaintsOf({ ...soon, forgotten })).toEqual([])
    const before = { fromMs: 1_500, toMs: 1_999, takesAccepted: false }
    expect(complaintsOf({ ...soon, forgotten: before })).toHaveLength(1)
    // The last one is not held up, as all others are.
    expect(complaintsOf(begun(periodMs, 500))).toEqual([])
    expect(complaintsOf(begun(periodMs, 501))).toEqual([`called too fast: ${PACE.limit + 1} jobs in 499 ms`])
  })
})
