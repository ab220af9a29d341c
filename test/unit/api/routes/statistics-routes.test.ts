import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Statistics } from '../../../../clients/typescript/src/client.ts'
import { emptyTally, type Tally } from '../../../../src/domain/statistics/tally.ts'
import { BEARER, call, NOW_MS, type RunningApi, startApi } from '../api-fixture.ts'

const MINUTE_MS = 60_000
const THIS_MINUTE = Math.floor(NOW_MS / MINUTE_MS)
/** A minute that began so many minutes ago, as the API takes it. */
const ago = (minutes: number) => new Date((THIS_MINUTE - minutes) * MINUTE_MS).toISOString()

let api: RunningApi
let sinces: number[]

beforeEach(async () => {
  sinces = []
  // In the minute of ten minutes ago ten jobs ended, and so on.
  const minutes = new Map(
    Array.from({ length: 200 }, (_, i): [number, Tally] => [THIS_MINUTE - i, { ...emptyTally(), done: i }]),
  )
  const read = (sinceMs: number) => {
    sinces.push((THIS_MINUTE * MINUTE_MS - sinceMs) / MINUTE_MS)
    return Promise.resolve(minutes)
  }
  const statistics = {
    ofTeam: (_: string, sinceMs: number) => read(sinceMs),
    ofQueue: (_: string, id: number, sinceMs: number) => (id === 7 ? read(sinceMs) : Promise.resolve(null)),
  }
  api = await startApi({ statistics })
})
afterEach(() => api.close())

async function statistics(query: string, path = '/api/stats') {
  const { status, json } = await call(api.port, `${path}?${query}`, { headers: BEARER })
  return { status, body: json as Statistics }
}

const doneOf = ({ points }: Pick<Statistics, 'points'>) => points.map(({ done }) => done)

describe.each(['/api/stats', '/api/queues/7/stats'])('%s', (path) => {
  test('ends where it is asked to', async () => {
    const { body } = await statistics(`since=${ago(12)}&until=${ago(9)}`, path)
    expect(doneOf(body)).toEqual([12, 11, 10])
    expect(body).not.toHaveProperty('previous')
    expect(sinces).toEqual([12])
  })

  test('takes spans back from now', async () => {
    const { body } = await statistics('since=12m&until=630s', path)
    expect(doneOf(body)).toEqual([12, 11])
  })

  test('has the span before beside it, of the same length', async () => {
    const { body } = await statistics(`since=${ago(12)}&until=${ago(9)}&compare=previous`, path)
    expect(doneOf(body)).toEqual([12, 11, 10])
    expect(Date.parse(body.previous?.since ?? '')).toBe(Date.parse(ago(15)))
    expect(body.previous && doneOf(body.previous)).toEqual([15, 14, 13])
    expect(sinces).toEqual([15])
  })

  test('has no point before for the one that is not over', async () => {
    const { body } = await statistics(`since=${ago(2)}&compare=previous`, path)
    expect(doneOf(body)).toEqual([2, 1, 0])
    expect(body.previous && doneOf(body.previous)).toEqual([4, 3])
  })

  test('says where the span before begins although its first points are no longer kept', async () => {
    const { body } = await statistics('since=5d&step=86400&compare=previous', path)
    expect(body.points).toHaveLength(6)
    const lengthMs = Date.parse(body.since) - Date.parse(body.previous?.since ?? '')
    expect(lengthMs).toBe(5 * 86_400_000)
    expect(body.previous?.points.length).toBeLessThan(3)
    expect(sinces.every((minutes) => minutes <= 7 * 1440)).toBe(true)
  })
})

test.each([
  [`since=${ago(9)}&until=${ago(9)}`, { until: ['The until field must be after since.'] }],
  ['since=1h&until=2h', { until: ['The until field must be after since.'] }],
  ['until=8d', { until: ['The until field must be within the last 7 days, for which statistics are kept.'] }],
  ['until=', { until: ['The until field must have a value.'] }],
  ['compare=next', { compare: ['The selected compare is invalid.'] }],
  [
    'since=2d&until=1h&step=60',
    { step: ['The step field must be longer for this range: it makes more than 1500 points.'] },
  ],
])('%s is a 422', async (query, errors) => {
  const { status, body } = await statistics(query)
  expect(status).toBe(422)
  expect(body).toMatchObject({ errors })
  expect(sinces).toEqual([])
})

test('an offset whose plus sign was not escaped is understood', async () => {
  const until = ago(9).replace('.000Z', '+00:00')
  expect(doneOf((await statistics(`since=${ago(11)}&until=${until}`)).body)).toEqual([11, 10])
})

test('the statistics of a queue that there is not are a 404', async () => {
  expect((await statistics('', '/api/queues/8/stats')).status).toBe(404)
})
