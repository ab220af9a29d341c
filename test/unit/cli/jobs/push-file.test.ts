import { describe, expect, test } from 'vitest'
import { batchesOf, type GivenLine } from '../../../../src/cli/jobs/batch/given-lines.ts'
import { inputOf, useApi } from '../cli-fixture.ts'

const api = useApi()
const AT = '2026-11-21T10:00:00.000+00:00'
const job = (id: number) => ({ status: 201, success: true, queue_id: 7, job_id: id, scheduled_at: AT })
const refused = (status: number, more = {}) => ({ status, message: 'No.', errors: {}, ...more })
const answerOf = (...results: object[]) => ({ status: 200, body: JSON.stringify({ results }) })
const away = { status: 503, body: '{"error":"The job store is away."}' }
const sent = () =>
  api.received.map(({ body }) => (JSON.parse(body) as { jobs: Record<string, unknown>[] }).jobs)

/** Sleeps at once, and notes for how long. */
const slept: number[] = []
async function push(text: string, ...flags: string[]) {
  slept.length = 0
  const sleep = async (milliseconds: number) => void slept.push(milliseconds)
  const args = ['push', '--file', '-', '--idempotency-prefix', 'p', ...flags]
  return api.run(args, { stdin: inputOf(text), sleep })
}

describe('push --file', () => {
  test('sends each line as it is written, with a key of its own', async () => {
    api.answer = answerOf(job(1), job(2), job(3))
    const lines = '{"payload": {"n": 12345678901234567890}}\n\n  {"idempotency_key":"mine"}\r\n{}'
    expect(await push(lines)).toEqual({ out: '3 of 3 lines pushed\n', err: '', code: 0 })
    expect(api.received[0]).toMatchObject({ method: 'POST', url: '/api/jobs/batch' })
    expect(api.received[0]?.body).toBe(
      '{"jobs":[{"idempotency_key":"p-1","payload": {"n": 12345678901234567890}},' +
        '{"idempotency_key":"mine"},{"idempotency_key":"p-4"}]}',
    )
  })

  test('names refused lines by their numbers, and fails', async () => {
    api.answer = answerOf(job(1), refused(422))
    const ran = await push('{"queue":"a"}\n{"queue":\n{"queue":"c"}\n[]\n{"idempotency_key":null}\n')
    expect(ran).toMatchObject({ out: '1 of 5 lines pushed\n', code: 1 })
    expect(ran.err.split('\n')).toEqual([
      expect.stringMatching(/^punctual: line 2: The line is not JSON: /),
      'punctual: line 3: No.',
      'punctual: line 4: The line is not a JSON object.',
      'punctual: line 5: The idempotency key field must be a string that is not empty.',
      'punctual: 4 of 5 lines were refused',
      '',
    ])
    expect(slept).toEqual([])
  })

  test.each([
    ['json', `${JSON.stringify({ line: 1, ...job(1) })}\n${JSON.stringify({ line: 3, ...refused(409) })}\n`],
    ['name', 'job/1\n'],
    ['wide', `line 1: job 1 in queue 7, scheduled at ${AT}\n1 of 2 lines pushed\n`],
  ])('-o %s says what became of each line', async (format, out) => {
    api.answer = answerOf(job(1), refused(409))
    expect(await push('{}\n\n{}\n', '-o', format)).toMatchObject({ out, code: 1 })
  })

  test('has one request for a thousand lines', async () => {
    const results = Array.from({ length: 1_000 }, (_, at) => job(at + 1))
    api.firstAnswers = [answerOf(...results)]
    api.answer = answerOf(job(1001))
    expect((await push('{}\n'.repeat(1_001))).out).toBe('1001 of 1001 lines pushed\n')
    expect(sent().map((jobs) => jobs.length)).toEqual([1_000, 1])
    expect(sent()[1]).toEqual([{ idempotency_key: 'p-1001' }])
  })

  test('sends a batch without an answer again under the same keys, and of another what may pass', async () => {
    api.firstAnswers = [away, answerOf(job(1), refused(503, { retry_after: 9 }), refused(422))]
    api.answer = answerOf(job(2))
    expect(await push('{}\n{}\n{}\n', '-o', 'name')).toMatchObject({ out: 'job/1\njob/2\n', code: 1 })
    expect(sent().map((jobs) => jobs.map((one) => one['idempotency_key']))).toEqual([
      ['p-1', 'p-2', 'p-3'],
      ['p-1', 'p-2', 'p-3'],
      ['p-2'],
    ])
    expect(slept).toEqual([1_000, 9_000])
  })

  test('stops after five tries more, and says how to go on', async () => {
    api.answer = away
    expect(await push('{}\n{}\n')).toEqual({
      out: '',
      err: 'punctual: lines 1 to 2: The job store is away.; run it again with --idempotency-prefix p, which pushes no line twice\n',
      code: 5,
    })
    expect(slept).toEqual([1_000, 2_000, 4_000, 8_000, 16_000])
  })

  test('tells what the first try pushed, although no other one gets an answer', async () => {
    api.firstAnswers = [answerOf(job(1), refused(503))]
    api.answer = away
    const ran = await push('{}\n{}\n', '-o', 'name')
    expect(ran).toMatchObject({ out: 'job/1\n', code: 5 })
    expect(ran.err).toMatch(/^punctual: line 2: No\.\npunctual: stopped after line 2, 1 lines pushed; /)
    expect(sent().map((jobs) => jobs.length)).toEqual([2, 1, 1, 1, 1, 1])
  })

  test('stops at once where waiting does not help, and reads no further', async () => {
    api.answer = answerOf(job(1), ...Array.from({ length: 999 }, () => refused(429, { retry_after: 31 })))
    const ran = await push('{}\n'.repeat(1_001), '-o', 'name')
    expect(ran).toMatchObject({ out: 'job/1\n', code: 5 })
    expect(ran.err).toMatch(/\npunctual: stopped after line 1000, 1 lines pushed; run it again with .*\n$/)
    expect([api.received.length, slept]).toEqual([1, []])
  })

  test('a refused token ends it with its own code', async () => {
    api.answer = { status: 403, body: '{"error":"This needs the permission push"}' }
    expect(await push('{}\n')).toMatchObject({
      err: 'punctual: lines 1 to 1: This needs the permission push\n',
      code: 4,
    })
  })

  test.each([
    [['push', 'q', '--file', '-'], 'q cannot be used with --file: put it into the lines'],
    [['push', '--file', '-', '--delay', '5'], '--delay cannot be used with --file: put it into the lines'],
    [['push', '--file', '/nowhere/at/all'], '--file cannot be read: ENOENT'],
    [['push', '--file', '-', '--idempotency-prefix', 'ключ'], '--idempotency-prefix must be visible ASCII'],
    [['push', 'q'], 'no job given: give a queue and a URL, --data or --file'],
    [['push', 'q', 'https://e.com', '--idempotency-prefix', 'p'], '--idempotency-prefix needs --file'],
  ])('%j is a misuse', async (args, says) => {
    const ran = await api.run(args, { stdin: inputOf('{}\n') })
    expect(ran).toMatchObject({ out: '', code: 2 })
    expect(ran.err).toContain(says)
    expect(api.received).toEqual([])
  })
})

describe('lines', () => {
  async function read(...chunks: string[]) {
    const batches: (readonly GivenLine[])[] = []
    for await (const batch of batchesOf(chunksIn(chunks))) batches.push(batch)
    return batches.map((batch) =>
      batch.map(({ number, bytes }) => [number, bytes === null ? null : bytes.length]),
    )
  }
  async function* chunksIn(chunks: string[]) {
    yield* chunks
  }

  test('may be torn anywhere', async () => {
    expect(await read('{"a"', ':1}\n', '\n', '{}', '\n{}')).toEqual([
      [
        [1, 7],
        [3, 2],
        [4, 2],
      ],
    ])
  })

  test('are too long over one MiB, and are not kept', async () => {
    const mebibyte = 'x'.repeat(1_048_576)
    expect(await read(mebibyte, '\n', mebibyte, 'x', mebibyte, '\nab')).toEqual([
      [
        [1, 1_048_576],
        [2, null],
        [3, 2],
      ],
    ])
  })

  test('are in one batch up to two MiB', async () => {
    const half = `${'x'.repeat(1_048_576)}\n`
    const both = (first: number) => [first, first + 1].map((number) => [number, 1_048_576])
    expect(await read(half, half, half, half, 'a')).toEqual([both(1), both(3), [[5, 1]]])
  })
})
