import { describe, expect, test } from 'vitest'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inputOf, useApi } from './cli-fixture.ts'

const api = useApi()

const BULK = {
  id: 7,
  action: 'replay',
  state: 'running',
  matched: 10,
  is_at_least: false,
  done: 4,
  skipped: 1,
  failed: 1,
  rate: 50,
  stop_when: { failed_again_percent: 20, min: 50 } as object | null,
  stopped: null as object | null,
  outcome: { succeeded: 310, waiting: 12, failed_again: 8, removed: 0 } as object | null,
  created_by: 'ci \u001b[2J',
  filter: { queue: 'emails', failure_reason: 'timeout' } as object | null,
  created_at: '2026-11-21T10:00:00.000+00:00',
  started_at: '2026-11-21T10:00:01.000+00:00',
  ended_at: null as string | null,
  failures: [{ job_id: 16, reason: 'damaged' }],
}
const sent = () => JSON.parse(String(api.received.at(-1)?.body)) as Record<string, unknown>
const create = (...args: string[]) => {
  api.answer = { status: 202, body: JSON.stringify(BULK) }
  return api.run(['bulk', 'create', '--yes', ...args])
}

test('bulks are a table, in which a name steers no terminal', async () => {
  const done = { ...BULK, id: 6, state: 'done', filter: null, is_at_least: true, outcome: null }
  api.answer = { status: 200, body: JSON.stringify({ bulks: [BULK, done], next_cursor: null }) }
  const { out } = await api.run(['bulk', '-o', 'wide'])
  expect(api.received[0]).toMatchObject({ method: 'GET', url: '/api/bulk' })
  expect(out.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  '))).toEqual([
    'BULK  ACTION  STATE  DONE  SKIPPED  FAILED  SUCCEEDED  AGAIN  MATCHED  CREATED  BY  JOBS',
    '7  replay  running  4  1  1  310  8  10  2026-11-21T10:00:00.000+00:00  ci \\x1b[2J  queue=emails failure_reason=timeout',
    '6  replay  done  4  1  1  -  -  10 or more  2026-11-21T10:00:00.000+00:00  ci \\x1b[2J  by ids',
    '',
  ])
})

test('a bulk is shown with its failures, and aborted', async () => {
  api.answer = { status: 200, body: JSON.stringify(BULK) }
  const { out } = await api.run(['bulk', 'show', '7'])
  expect(out).toContain('4 done, 1 skipped, 1 failed of 10\n')
  expect(out).toContain('of the new jobs 310 succeeded, 12 wait, 8 failed again\n')
  expect(out).toContain('stops when 20 % of at least 50 have failed again\n')
  expect(out).toContain('job 16: damaged\n')
  await api.run(['bulk', 'abort', '7'])
  expect(api.received.at(-1)).toMatchObject({ method: 'POST', url: '/api/bulk/7/abort' })
  const outcome = { succeeded: 1, waiting: 0, failed_again: 49, removed: 3 }
  const stopped = { ...BULK, state: 'stopped', stopped: { failed_again: 49, ended: 50 }, outcome }
  api.answer = { status: 200, body: JSON.stringify(stopped) }
  const resumed = await api.run(['bulk', 'resume', '--yes', '7'])
  expect(api.received.at(-1)).toMatchObject({ method: 'POST', url: '/api/bulk/7/resume' })
  expect(resumed.out).toContain('stopped because 49 of 50 had failed again\n')
  expect(resumed.out).toContain('49 failed again, 3 removed\n')
})

test('a bulk of an API that knows no outcome is shown without one', async () => {
  const { outcome: _outcome, stopped: _stopped, stop_when: _rule, ...former } = BULK
  api.answer = { status: 200, body: JSON.stringify(former) }
  const { out, code } = await api.run(['bulk', 'show', '7'])
  expect([code, out.includes('new jobs')]).toEqual([0, false])
})

describe('a new bulk', () => {
  test('is of ids, or of a filter, or of all', async () => {
    await create('cancel', '4711', '0190a0e0-0000-8000-8000-000000000010')
    expect(sent()).toEqual({ action: 'cancel', ids: [4711, '0190a0e0-0000-8000-8000-000000000010'] })
    await create('replay', '--queue', 'emails', '--failure-reason', 'timeout', '--cron', '3', '--rate', '50')
    expect(sent()).toEqual({
      action: 'replay',
      rate: 50,
      filter: { queue: 'emails', failure_reason: 'timeout', cron_id: 3 },
    })
    await create('replay', '--all', '--stop-percent', '20', '--stop-min', '30')
    expect(sent()).toEqual({
      action: 'replay',
      filter: {},
      stop_when: { failed_again_percent: 20, min: 30 },
    })
    await create('replay', '--all', '--stop-percent', '20')
    expect(sent()['stop_when']).toEqual({ failed_again_percent: 20 })
    expect((await create('replay', '--all', '--stop-min', '30')).code).toBe(2)
    await create('purge', '--all')
    expect(sent()).toEqual({ action: 'purge', filter: {} })
  })

  test('is of ids in a file and on standard input', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'punctual-bulk-'))
    const file = join(folder, 'ids')
    writeFileSync(file, 'job/16\n17  18\r\n\n')
    api.answer = { status: 202, body: JSON.stringify(BULK) }
    const args = ['bulk', 'create', 'retry', '15', `@${file}`, '-']
    await api.run(args, { stdin: inputOf('0190a0e0-0000-8000-8000-000000000010\njob/19') })
    rmSync(folder, { recursive: true })
    expect(sent()['ids']).toEqual([15, 16, 17, 18, '0190a0e0-0000-8000-8000-000000000010', 19])
  })

  test.each([
    ['nothing', '', 'standard input holds no ids'],
    ['white space', ' \n', 'standard input holds no ids'],
    ['too many ids', '16 '.repeat(1001), 'a bulk has at most 1000 ids'],
  ])('is refused where standard input holds %s', async (_what, text, says) => {
    for (const more of [[], ['16']]) {
      const ran = await api.run(['bulk', 'create', 'cancel', ...more, '-'], { stdin: inputOf(text) })
      expect(ran).toEqual({ out: '', err: `punctual: ${says}\n`, code: 2 })
    }
    expect(api.received).toEqual([])
  })

  test('reads no more than a bulk can have', async () => {
    let chunks = 0
    async function* endless() {
      for (;;) {
        chunks += 1
        yield Buffer.from(`${'0'.repeat(1023)}\n`)
      }
    }
    const ran = await api.run(['bulk', 'create', 'cancel', '-'], { stdin: endless() })
    expect(ran).toMatchObject({ code: 2, err: 'punctual: a bulk has at most 1000 ids\n' })
    expect(chunks).toBeLessThan(200)
    expect(await api.run(['bulk', 'create', 'cancel', '@/nowhere'])).toMatchObject({ code: 2 })
    expect(api.received).toEqual([])
  })

  test('is only counted by a dry run, which the API does', async () => {
    api.answer = { status: 200, body: '{"matched":3,"is_at_least":true,"sample":[16,32]}' }
    const { out } = await api.run(['bulk', 'create', 'purge', '--all', '--dry-run'])
    expect(sent()).toEqual({ action: 'purge', filter: {}, dry_run: true })
    expect(out).toBe('3 or more jobs match\nsuch as 16, 32\n')
  })

  test('is waited for, and fails unless it is done without failures', async () => {
    const end = (change: object) => ({ status: 200, body: JSON.stringify({ ...BULK, ...change }) })
    const wait = (last: object) => {
      api.firstAnswers = [{ status: 202, body: JSON.stringify(BULK) }, end({})]
      api.answer = end(last)
      return api.run(['bulk', 'create', 'purge', '--yes', '--all', '--wait', '5'], {
        sleep: () => Promise.resolve(),
      })
    }
    expect(await wait({ state: 'done', failed: 0 })).toMatchObject({ code: 0, err: 'bulk 7 is under way\n' })
    expect((await wait({ state: 'done' })).err).toContain('bulk 7 could not act on 1 jobs')
    expect((await wait({ state: 'aborted' })).err).toContain('bulk 7 is aborted\n')
    expect((await wait({})).err).toContain('bulk 7 is running after 5 s')
    expect(api.received.at(-1)).toMatchObject({ method: 'GET', url: '/api/bulk/7' })
  })

  test('is waited for through faults that pass, if they do', async () => {
    const away = { status: 503, body: '{"error":"Redis is away"}' }
    const slow = { status: 429, body: '{"error":"Too many requests"}' }
    const wait = (faults: readonly (typeof away)[]) => {
      api.firstAnswers = [{ status: 202, body: JSON.stringify(BULK) }, ...faults]
      api.answer = { status: 200, body: JSON.stringify({ ...BULK, state: 'done', failed: 0 }) }
      return api.run(['bulk', 'create', 'purge', '--yes', '--all', '--wait', '60'], {
        sleep: () => Promise.resolve(),
      })
    }
    expect(await wait([away, slow, away, slow, away])).toMatchObject({ code: 0 })
    const ended = await wait(Array.from({ length: 6 }, () => away))
    expect(ended.code).toBe(5)
    expect(ended.err).toMatch(/^bulk 7 is under way\n/)
    expect(await wait([{ status: 404, body: '{"error":"Not found"}' }])).toMatchObject({ code: 3 })
  })

  test('may ask for any status that some action is for', async () => {
    for (const status of ['pending', 'completed', 'failed', 'dead_lettered']) {
      await create('delete', '--status', status)
      expect(sent()).toEqual({ action: 'delete', filter: { status } })
    }
  })

  test.each([
    [['explode', '16'], 'explode is not an action of bulks'],
    [['cancel'], 'give ids, filters or --all'],
    [['cancel', '16', '--all'], 'give ids, filters or --all'],
    [['cancel', '--all', '--rate', 'fast'], '--rate fast is not a whole number'],
  ])('with %j is called wrongly', async (args, text) => {
    const { err, code } = await create(...args)
    expect(err).toContain(text)
    expect(code).toBe(2)
    expect(api.received).toEqual([])
  })
})
