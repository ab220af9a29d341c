import { beforeEach, describe, expect, test } from 'vitest'
import type { Job, JobSummary } from '../../../../clients/typescript/src/client.ts'
import type { Api } from '../../../../src/cli/connection/api.ts'
import { copyOf } from '../../../../src/cli/receiver/forward/call-copy.ts'
import { EndedCalls } from '../../../../src/cli/receiver/forward/ended-calls.ts'
import { forwardCalls, type ForwardReport } from '../../../../src/cli/receiver/forward/forward-calls.ts'
import { localUrlOf } from '../../../../src/cli/receiver/forward/local-call.ts'
import { useApi } from '../cli-fixture.ts'

const NOW_MS = 1_790_000_000_000
const { signal } = new AbortController()

test.each([
  ['http://localhost:3000', 'https://shop.example/orders/7?a=1', 'http://localhost:3000/orders/7?a=1'],
  ['http://localhost:3000/', 'https://shop.example/orders', 'http://localhost:3000/orders'],
  ['https://[::1]:3000/hooks', 'https://shop.example/orders?a=%20', 'https://[::1]:3000/hooks?a=%20'],
  ['http://localhost:3000/hooks', 'https://shop.example', 'http://localhost:3000/hooks'],
])('%s instead of %s is %s', (forward, target, expected) => {
  expect(localUrlOf(new URL(forward), target).href).toBe(expected)
})

describe('a copy', () => {
  const jobOf = (given: {
    readonly body?: string | null
    readonly isCut?: boolean
    readonly encoding?: string | null
    readonly timestamp?: number
    readonly rest?: object
  }): Job => {
    const { body = null, isCut = false, encoding = null, timestamp = NOW_MS / 1000, rest = {} } = given
    const headers = [
      { name: 'host', value: 'shop.example' },
      { name: 'Content-Length', value: '3' },
      { name: 'X-Api-Key', value: '(hidden)' },
      { name: 'webhook-timestamp', value: String(timestamp) },
    ]
    const request = { method: 'POST', url: 'https://shop.example/', headers, body, body_truncated: isCut }
    const calls = [{ attempt_number: 1, request, response: null, failure_reason: 'timeout' }]
    return {
      job_id: 64,
      payload: null,
      body: null,
      body_encoding: encoding,
      cron_id: null,
      calls,
      ...rest,
    } as never
  }

  test('has what was sent, and names what it may not have', () => {
    const copy = copyOf(jobOf({ body: '{"n": 1.0}' }), '', NOW_MS)
    expect(copy).toEqual({
      jobId: 64,
      attempt: 1,
      method: 'POST',
      url: 'https://shop.example/',
      headers: [{ name: 'webhook-timestamp', value: String(NOW_MS / 1000) }],
      body: Buffer.from('{"n": 1.0}'),
      leftOut: ['X-Api-Key'],
      outcome: 'timeout',
    })
  })

  const whole = '{"payload":{"n": 12345678901234567890.10},"body":[1.0, 2],"x":1}'
  test.each([
    ['a payload', null, { payload: { n: 1 } }, '{"n": 12345678901234567890.10}'],
    ['any JSON', 'json', { body: [1, 2] }, '[1.0, 2]'],
    ['a text', 'text', { body: 'a "text"' }, 'a "text"'],
    ['bytes', 'base64', { body: '/wA=' }, Buffer.from([255, 0])],
    ['what a cron sends', null, { payload: 'any text', cron_id: 7 }, 'any text'],
  ])('has the whole of a long body while the job keeps it: %s', (_what, encoding, rest, expected) => {
    const copy = copyOf(jobOf({ body: 'beginning', isCut: true, encoding, rest }), whole, NOW_MS)
    expect(typeof copy === 'string' ? copy : copy.body).toEqual(Buffer.from(expected))
  })

  test('is none where the call was not kept, or not its body, or is old', () => {
    expect(copyOf(jobOf({ rest: { calls: [] } }), '', NOW_MS)).toBe('not_recorded')
    expect(copyOf(jobOf({ body: 'beginning', isCut: true }), '', NOW_MS)).toBe('cut')
    expect(copyOf(jobOf({ timestamp: NOW_MS / 1000 - 301 }), '', NOW_MS)).toBe('old')
    expect(copyOf(jobOf({ timestamp: NOW_MS / 1000 - 300 }), '', NOW_MS)).toMatchObject({ jobId: 64 })
  })
})

test('whoever may no longer see payloads gets no copies', async () => {
  const hidden = { name: 'webhook-id', value: '(hidden)' }
  const request = { method: 'POST', url: 'http://127.0.0.1:1/', headers: [hidden], body: '(hidden)' }
  const job = { ...rowOf(1), chain: [], calls: [{ attempt_number: 1, request, response: null }] }
  let looks = 0
  const send = async (name: string, { status }: { status?: string }) => {
    if (name === 'readJob') return { text: '', body: job }
    looks += 1
    return { text: '', body: { jobs: looks > 2 && status === 'completed' ? [job] : [] } }
  }
  const told: string[] = []
  const report = { sent: () => told.push('sent'), left: () => told.push('left') } as unknown as ForwardReport
  const events = async () => new Response(': \n\n')
  const api = { server: '', send, events } as unknown as Api
  const given = { api, queue: 'orders', forward: new URL('http://127.0.0.1:1'), report, nowMs: () => NOW_MS }
  const end = new AbortController()
  const forwarded = forwardCalls(given, () => undefined, end.signal)
  await expect(forwarded).rejects.toMatchObject({
    exitCode: 4,
    message: 'This needs the permission payloads',
  })
  end.abort()
  expect(told).toEqual([])
  // Without the stream the first look would come after ten seconds.
}, 9_000)

/** A job of a list, which ended in that second. */
function rowOf(id: number, rest: object = {}): JobSummary {
  const ended = { completed_at: new Date(id * 1000).toISOString(), has_pending_retry: false }
  return { job_id: id, ...ended, ...rest } as never
}

describe('what has ended', () => {
  let completed: JobSummary[]
  let failed: JobSummary[]
  let fault: Error | null
  const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => rowOf(to - 1 - at))
  let chains: Map<number, JobSummary[]>
  const send = async (name: string, given: { status?: string; job_id?: number; limit?: number }) => {
    if (fault !== null) throw fault
    if (name === 'readJob') {
      const id = given.job_id ?? 0
      return { text: '', body: { ...rowOf(id), chain: chains.get(id) ?? [rowOf(id)] } }
    }
    return {
      text: '',
      body: { jobs: (given.status === 'completed' ? completed : failed).slice(0, given.limit) },
    }
  }
  let ended: EndedCalls
  const idsOf = async () => (await ended.look(signal)).calls.map(({ job }) => job.job_id)

  beforeEach(() => {
    ;[completed, failed, fault, chains] = [[], [], null, new Map()]
    ended = new EndedCalls(
      { server: '', send, events: () => new Promise(() => undefined) } as unknown as Api,
      'orders',
    )
  })

  test('comes once, oldest first, and not what was there before', async () => {
    completed = rows(1, 4)
    await ended.begin(signal)
    completed = rows(1, 6)
    failed = [rowOf(7)]
    expect(await idsOf()).toEqual([4, 5, 7])
    expect(await idsOf()).toEqual([])
  })

  test('comes again after a look that failed', async () => {
    await ended.begin(signal)
    completed = rows(1, 3)
    fault = new Error('away')
    await expect(ended.look(signal)).rejects.toThrow('away')
    fault = null
    expect(await idsOf()).toEqual([1, 2])
  })

  test('is the newest 50, and the others are counted', async () => {
    await ended.begin(signal)
    completed = rows(1, 71)
    const look = await ended.look(signal)
    expect([look.calls.length, look.calls[0]?.job.job_id]).toEqual([50, 21])
    expect(look).toMatchObject({ skipped: 20, mayMissMore: false })
    completed = rows(71, 571)
    expect(await ended.look(signal)).toMatchObject({ skipped: 50, mayMissMore: true })
    completed = rows(300, 580)
    expect(await ended.look(signal)).toMatchObject({ skipped: 0, mayMissMore: false })
  })

  test('has each attempt of a chain, also the last of one that has become a dead letter', async () => {
    const at = (id: number, end: number | null) =>
      rowOf(id, { completed_at: end === null ? null : new Date(end * 1000).toISOString() })
    await ended.begin(signal)
    failed = [rowOf(1, { has_pending_retry: true })]
    chains.set(1, [at(1, 1), at(2, null)])
    expect(await idsOf()).toEqual([1])
    chains.set(1, [at(1, 1), at(2, 5), at(3, null)])
    expect(await idsOf()).toEqual([2])
    failed = [rowOf(1)]
    chains.set(1, [at(1, 1), at(2, 5), at(3, 9), at(4, 12)])
    expect(await idsOf()).toEqual([3, 4])
    expect(await idsOf()).toEqual([])
  })

  test('has all attempts of a chain that failed between two looks, and none of one that was going on before', async () => {
    failed = [rowOf(1, { has_pending_retry: true })]
    chains.set(1, [rowOf(1), rowOf(2)])
    await ended.begin(signal)
    failed = [rowOf(5), ...failed]
    chains.set(5, [rowOf(5), rowOf(6)])
    expect(await idsOf()).toEqual([5, 6])
  })

  test('stays known while it is listed, however much comes', async () => {
    failed = [rowOf(1, { completed_at: '2199-01-01T00:00:00.000Z' })]
    chains.set(1, failed)
    await ended.begin(signal)
    const copied = new Set<number>()
    for (let from = 2; from < 14_000; from += 100) {
      completed = rows(from, from + 100)
      for (const id of await idsOf()) copied.add(id)
    }
    expect([copied.size, copied.has(1)]).toEqual([7_000, false])
  })
})

describe('the command', () => {
  const api = useApi()
  test.each([
    [
      ['--forward', 'localhost:3000', '--queue', 'a'],
      '--forward localhost:3000 is not an http address, such as http://localhost:3000/hooks',
    ],
    [
      ['--forward', 'http://u:p@localhost', '--queue', 'a'],
      '--forward must have no user, password, query or fragment',
    ],
    [
      ['--forward', 'http://localhost/?a=1', '--queue', 'a'],
      '--forward must have no user, password, query or fragment',
    ],
    [['--forward', 'http://localhost'], '--forward needs a queue whose calls are copied (--queue)'],
    [
      ['--forward', 'http://localhost', '--queue', 'a', '--port', '80', '--status', '200'],
      '--port, --status cannot stand beside --forward',
    ],
    [['--queue', 'a', '--token', 'b'], '--queue, --token needs --forward'],
  ])('refuses %j', async (args, message) => {
    expect(await api.run(['listen', ...args])).toMatchObject({
      code: 2,
      out: '',
      err: `punctual: ${message}\n`,
    })
    expect(api.received).toEqual([])
  })

  test('ends with what the API says', async () => {
    api.answer = { status: 401, body: '{"error":"Invalid authorization token"}' }
    const interrupted = () => new Promise<void>(() => undefined)
    const ran = await api.run(['listen', '--forward', 'http://localhost', '--queue', 'a'], { interrupted })
    expect(ran).toMatchObject({ code: 4, err: expect.stringContaining('Invalid authorization token') })
  })
})
