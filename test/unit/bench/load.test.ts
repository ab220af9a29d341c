import { describe, expect, test } from 'vitest'
import { padded, SUBMITTED_BYTES } from '../../../bench/contenders/contender.ts'
import { parseArrivals } from '../../../bench/harness/nginx-target.ts'
import { fillIn, type PushPlan } from '../../../bench/load/push-plan.ts'
import { batchOf } from '../../../bench/scenarios/batches.ts'

const PLAN: PushPlan = {
  url: 'http://127.0.0.1:8080/api/jobs',
  headers: {},
  body: '{"queue":"q{queue}","url":"http://t/{index}?due={due}","run_at":"{due_iso}"}',
  count: 10,
  queues: 4,
  connections: 1,
  perSecond: null,
  dueInMs: 2_000,
}

test('what is submitted has 152 bytes, unless it is longer by itself', () => {
  expect(padded({ queue: 'bench', url: 'http://127.0.0.1:40000/call' })).toHaveLength(SUBMITTED_BYTES)
  expect(JSON.parse(padded({ url: 'x'.repeat(200) }))).toEqual({ url: 'x'.repeat(200), payload: { pad: '' } })
})

describe('a push plan', () => {
  test('fills in number, queue and due time', () => {
    const { path, body } = fillIn(PLAN, 6, 1_795_245_147_184)
    expect(path).toBe('/api/jobs')
    expect(JSON.parse(body)).toEqual({
      queue: 'q2',
      url: 'http://t/6?due=1795245149184',
      run_at: '2026-11-21T07:12:29.184Z',
    })
  })

  test('leaves a target in the path encoded', () => {
    const url = `http://127.0.0.1:1/queues/${encodeURIComponent('http://t/due?a={index}')}`
    expect(fillIn({ ...PLAN, url }, 3, 0).path).toBe('/queues/http%3A%2F%2Ft%2Fdue%3Fa%3D3')
  })
})

test('a batch is the same push so many times, as one request', () => {
  const load = { url: 'http://127.0.0.1:1/api/jobs', headers: { a: 'b' }, body: '{"queue":"bench"}' }
  expect(batchOf(load, 3)).toEqual({
    url: 'http://127.0.0.1:1/api/jobs/batch',
    headers: { a: 'b' },
    body: '{"jobs":[{"queue":"bench"},{"queue":"bench"},{"queue":"bench"}]}',
  })
})

test('arrivals are read from a query parameter and from an escaped header', () => {
  const lines = [
    '1795245149.190 1795245149184',
    String.raw`1795245149.200 {\x22id\x22:\x22due1795245149184-3\x22,\x22count\x22:1}`,
    '1795245149.300 ',
    '',
  ]
  expect(parseArrivals(lines.join('\n'))).toEqual([
    { dueMs: 1_795_245_149_184, arrivedMs: 1_795_245_149_190 },
    { dueMs: 1_795_245_149_184, arrivedMs: 1_795_245_149_200 },
  ])
})
