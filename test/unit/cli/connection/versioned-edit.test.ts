import { describe, expect, test } from 'vitest'
import { useApi } from '../cli-fixture.ts'

const api = useApi()

const FIRST = '"VnQtcHkT0m6Ea1Zb"'
const SECOND = '"9pXw2kq0TtQ5b1Lr"'
const read = (version: string, body: object) => ({
  status: 200,
  headers: { etag: version },
  body: JSON.stringify(body),
})
const CHANGED = { status: 409, body: JSON.stringify({ error: 'It has changed.', version: SECOND }) }

describe.each([
  ['queues', '7', 'queue 7', '/api/queues/7'],
  ['crons', '7', 'cron 7', '/api/crons/7'],
  ['windows', 'night', 'window night', '/api/maintenance-windows/night'],
])('an edit of %s', (verb, id, what, path) => {
  const change = verb === 'windows' ? ['--reason', 'x'] : ['--timeout', '5']
  const field = verb === 'windows' ? 'reason' : 'timeout_seconds'
  const edit = (...more: string[]) => api.run([verb, 'edit', id, ...change, ...more])

  test('is one of the version that it read', async () => {
    api.firstAnswers = [read(FIRST, {})]
    await edit()
    expect(api.received).toMatchObject([
      { method: 'GET', url: path },
      { method: 'PATCH', url: path, headers: { 'if-match': FIRST } },
    ])
  })

  test('is one of it behind a proxy that compresses, and calls its version weak', async () => {
    api.firstAnswers = [read(`W/${FIRST}`, {}), CHANGED]
    api.answer = read(`W/${SECOND}`, {})
    expect((await edit()).err).toContain(`its version is now ${SECOND}\n`)
    expect(api.received[1]?.headers['if-match']).toBe(FIRST)
    await edit('--if-match', `W/${FIRST}`)
    expect(api.received.at(-1)?.headers['if-match']).toBe(FIRST)
  })

  test('says what another one changed before it, but not what changes by itself', async () => {
    const before = { [field]: 30, counts: 1, throttled: 1, last_run: 1, active: 1, same: [1] }
    api.firstAnswers = [read(FIRST, before), CHANGED]
    api.answer = read(SECOND, { [field]: 60, counts: 2, throttled: 2, last_run: 2, active: 2, same: [1] })
    expect(await edit()).toEqual({
      code: 6,
      out: '',
      err: `punctual: ${what} has changed, so nothing was edited; its version is now ${SECOND}: ${field} is 60 (was 30)\n`,
    })
  })

  test('of a given version says what its own fields are now', async () => {
    api.firstAnswers = [CHANGED]
    api.answer = read(SECOND, { [field]: 60, other: 1 })
    const ran = await edit('--if-match', FIRST)
    expect(ran.code).toBe(6)
    expect(ran.err).toContain(`is now ${SECOND}: ${field} is 60\n`)
    expect(api.received.map(({ method }) => method)).toEqual(['PATCH', 'GET'])
  })

  test('that conflicts does so even if nothing can be read any more', async () => {
    api.firstAnswers = [read(FIRST, {}), CHANGED]
    api.answer = { status: 503, body: '{"error":"Away."}' }
    expect(await edit()).toEqual({ code: 6, out: '', err: 'punctual: It has changed.\n' })
  })

  test('that is refused for another reason is no conflict', async () => {
    api.firstAnswers = [read(FIRST, {})]
    api.answer = { status: 409, body: '{"error":"The file is not valid."}' }
    expect(await edit()).toEqual({ code: 1, out: '', err: 'punctual: The file is not valid.\n' })
  })

  test('shows its version in a dry run, and in wide', async () => {
    api.answer = read(FIRST, { success_assertions: [], retry_delays: [], counts: {}, warnings: [] })
    const { out } = await edit('--dry-run')
    expect(out).toMatch(new RegExp(`^PATCH ${path}\nif-match: ${FIRST}\n`))
    expect(api.received.map(({ method }) => method)).toEqual(['GET'])
  })
})

test('crons and windows are shown with their versions', async () => {
  api.answer = read(FIRST, {
    warnings: [],
    consecutive_failures: 0,
    last_run: null,
    queue: null,
    managed_by: null,
  })
  expect((await api.run(['crons', 'show', '7', '-o', 'wide'])).out).toContain(`\nversion ${FIRST}\n`)
  api.answer = read(FIRST, {
    recurring: null,
    resource: null,
    reason: null,
    next_start_at: null,
    problem: null,
  })
  expect((await api.run(['windows', 'show', 'night', '-o', 'wide'])).out).toContain(`\nversion ${FIRST}\n`)
})
