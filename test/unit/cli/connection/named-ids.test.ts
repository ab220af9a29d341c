import { describe, expect, test } from 'vitest'
import { useApi } from '../cli-fixture.ts'

const api = useApi()

const answered = (body: object) => ({ status: 200, body: JSON.stringify(body) })
const called = () => api.received.map(({ method, url }) => `${method} ${url}`)
const queueNamed = (name: string) => answered({ queues: [{ queue_id: 12, name }], next_cursor: null })
const cronPage = (crons: object[], cursor: string | null = null) => answered({ crons, next_cursor: cursor })

describe('a queue', () => {
  test.each([
    ['emails', 'emails'],
    ['name:7', '7'],
    ['name:name:7', 'name:7'],
    ['queue/emails', 'queue/emails'],
    ['a&b=c', 'a&b=c'],
    ['7 days', '7 days'],
  ])('given as %s is looked up by its name', async (given, name) => {
    api.firstAnswers = [queueNamed(name)]
    api.answer = { status: 204, body: '' }
    expect(await api.run(['queues', 'delete', '--yes', given])).toEqual({
      code: 0,
      out: 'queue 12 deleted\n',
      err: '',
    })
    expect(called()).toEqual([
      `GET /api/queues?${new URLSearchParams({ name, limit: '1' }).toString()}`,
      'DELETE /api/queues/12',
    ])
  })

  test.each(['7', 'queue/7'])('given as %s is one id', async (given) => {
    api.answer = { status: 204, body: '' }
    await api.run(['queues', 'delete', '--yes', given])
    expect(called()).toEqual(['DELETE /api/queues/7'])
  })

  test('that is not there is told by what it was given as', async () => {
    api.answer = answered({ queues: [], next_cursor: null })
    const ran = await api.run(['queues', 'pause', 'mails'])
    expect(ran).toMatchObject({ code: 3, out: '' })
    expect(ran.err).toContain('no queue named "mails"')
    api.answer = { status: 404, body: '{"error":"Not found"}' }
    expect((await api.run(['queues', 'pause', '7'])).err).toContain(
      'no queue with the id 7 (one named 7 is given as name:7)',
    )
    expect(await api.run(['queues', 'pause', 'name:'])).toMatchObject({ code: 2 })
    expect(await api.run(['queues', 'pause', ''])).toMatchObject({ code: 2 })
  })

  test('is the same one in every verb', async () => {
    const verbs = [
      ['stats', 'emails'],
      ['queues', 'show', 'emails'],
      ['queues', 'pause', 'emails'],
      ['queues', 'drain', 'emails'],
      ['queues', 'resume', 'emails'],
      ['queues', 'purge', '--yes', 'emails'],
      ['queues', 'edit', 'emails', '--timeout', '5'],
      ['alerts', '--queue', 'emails'],
      ['windows', 'create', '--for', '2h', '--queue', 'emails'],
    ]
    for (const verb of verbs) {
      api.received = []
      api.firstAnswers = [queueNamed('emails')]
      await api.run(verb)
      const [lookUp, first] = api.received
      expect(lookUp?.url).toBe('/api/queues?name=emails&limit=1')
      const said = `${first?.url} ${first?.body}`
      expect([verb, said]).toEqual([verb, expect.stringMatching(/queues\/12|resource_id=12|"id":12/)])
    }
  })

  test('filters jobs by its name, which only an id has to be looked up for', async () => {
    api.answer = answered({ jobs: [], next_cursor: null, queue_id: 7, name: 'emails', searched: 0 })
    await api.run(['jobs', '--queue', 'emails'])
    await api.run(['jobs', '--queue', 'name:7'])
    await api.run(['jobs', '--queue', '7'])
    expect(called()).toEqual([
      'GET /api/jobs?queue=emails',
      'GET /api/jobs?queue=7',
      'GET /api/queues/7',
      'GET /api/jobs?queue=emails',
    ])
  })
})

test.each([
  ['emails', 'emails', false],
  ['name:7', '7', false],
  ['7', 'emails', true],
  ['queue/7', 'emails', true],
])('a cron is moved to the queue given as %s', async (given, queue, isLookedUp) => {
  api.answer = answered({ name: 'emails', warnings: [] })
  await api.run(['crons', 'edit', '3', '--queue', given])
  expect(called()).toEqual([
    ...(isLookedUp ? ['GET /api/queues/7'] : []),
    'GET /api/crons/3',
    'PATCH /api/crons/3',
  ])
  expect(api.received.at(-1)?.body).toBe(JSON.stringify({ queue }))
})

describe('a cron', () => {
  test('is found by its name on a later page', async () => {
    api.firstAnswers = [cronPage([{ id: 1, name: 'other' }], 'c'), cronPage([{ id: 3, name: 'Nightly' }])]
    api.answer = { status: 204, body: '' }
    expect((await api.run(['crons', 'delete', '--yes', 'Nightly'])).out).toBe('cron 3 deleted\n')
    expect(called()).toEqual([
      'GET /api/crons?limit=1000',
      'GET /api/crons?limit=1000&cursor=c',
      'DELETE /api/crons/3',
    ])
  })

  test('of a name that two have is not guessed', async () => {
    api.answer = cronPage([
      { id: 1, name: 'Nightly' },
      { id: 3, name: 'Nightly' },
    ])
    const ran = await api.run(['crons', 'delete', '--yes', 'Nightly'])
    expect(ran).toEqual({
      code: 2,
      out: '',
      err: 'punctual: 2 crons are named "Nightly": give one of 1, 3\n',
    })
    expect(called()).toEqual(['GET /api/crons?limit=1000'])
  })

  test('is looked for on so many pages, and no more', async () => {
    api.answer = cronPage([], 'c')
    expect(await api.run(['crons', 'run', 'Nightly'])).toMatchObject({ code: 2 })
    expect(api.received).toHaveLength(20)
  })

  test('filters jobs by its id', async () => {
    api.firstAnswers = [cronPage([{ id: 3, name: 'Nightly' }])]
    api.answer = answered({ jobs: [], next_cursor: null })
    await api.run(['jobs', '--cron', 'Nightly'])
    expect(called()[1]).toBe('GET /api/jobs?cron_id=3')
  })
})

test('ids are taken as -o name prints them', async () => {
  api.answer = { status: 204, body: '' }
  expect((await api.run(['delete', '--yes', 'job/16'])).out).toBe('job 16 deleted\n')
  await api.run(['windows', 'delete', '--yes', 'window/night'])
  await api.run(['tokens', 'revoke', '--yes', 'token/ci'])
  api.answer = answered({})
  await api.run(['bulk', 'create', 'retry', 'job/16', '17'])
  expect(called().slice(0, 3)).toEqual([
    'DELETE /api/jobs/16',
    'DELETE /api/maintenance-windows/night',
    'DELETE /api/tokens/ci',
  ])
  expect(JSON.parse(api.received[3]?.body ?? '')).toEqual({ action: 'retry', ids: [16, 17] })
  api.received = []
  for (const verb of ['alerts show alert/9', 'bulk show bulk/8', 'secrets delete --yes signing-secret/k']) {
    await api.run(verb.split(' '))
  }
  expect(called()).toEqual(['GET /api/alerts/9', 'GET /api/bulk/8', 'DELETE /api/signing-secrets/k'])
  api.answer = answered({ results: [] })
  await api.run(['notifications', 'test', 'channel/ops'])
  expect(api.received.at(-1)?.body).toBe('{"channel":"ops"}')
})
