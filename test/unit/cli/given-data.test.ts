import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { contract } from '../../support/rules/contract-document.ts'
import { inputOf, useApi } from './cli-fixture.ts'

const api = useApi()

/** The body that was sent last, as text. */
const sent = () => api.received.at(-1)?.body ?? ''

describe('--data', () => {
  test('is sent as it is written', async () => {
    const data =
      '{ "queue": "q", "url": "https://e.com", "payload": {"n":12345678901234567890,"a":"\\u0041"} }'
    await api.run(['push', '--data', data])
    await api.run(['push', '--data', '-'], { stdin: inputOf(`${data}\n`) })
    expect(api.received.map(({ body }) => body)).toEqual([data, data])
  })

  test('yields to other options, which stand after it', async () => {
    const data = '{"queue":"a","payload":{"n":1.50},"delay":5}'
    await api.run(['push', 'b', 'https://e.com', '--data', data, '--payload', '{"n":2.50}', '--delay', '7'])
    expect(sent()).toBe(
      '{"queue":"a","payload":{"n":1.50},"delay":5,"queue":"b","url":"https://e.com","delay":7,"payload":{"n":2.50}}',
    )
    await api.run(['replay', '16', '--data', '{ }', '--timeout', '5'])
    expect(JSON.parse(sent())).toEqual({ timeout_seconds: 5 })
  })

  test('shares standard input with nothing', async () => {
    const ran = await api.run(['push', '--data', '-', '--payload', '-'], { stdin: inputOf('{}') })
    expect(ran).toMatchObject({ code: 2, out: '' })
    expect(ran.err).toContain('only one of --data and --payload')
  })

  test('does so beside a body that is a file, as text or as base64 of its bytes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'punctual-body-'))
    const bodyOf = async (bytes: Buffer) => {
      await writeFile(join(folder, 'body'), bytes)
      await api.run(['push', 'b', 'https://e.com', '--body', `@${folder}/body`, '--content-type', 'a/b'])
      return JSON.parse(sent()) as object
    }
    expect(await bodyOf(Buffer.from('é\n'))).toEqual({
      queue: 'b',
      url: 'https://e.com',
      body: 'é\n',
      body_encoding: 'text',
      content_type: 'a/b',
    })
    expect(await bodyOf(Buffer.from([0xff, 0]))).toMatchObject({ body: '/wA=', body_encoding: 'base64' })
    await api.run(['replay', '16', '--no-body'])
    expect(JSON.parse(sent())).toEqual({ body: null })
    await rm(folder, { recursive: true })
  })

  // Whatever field the contract has, some command line gives it.
  test.each([
    ['JobPush', ['push']],
    ['JobChange', ['duplicate', '16']],
    ['ReplayChange', ['replay', '16']],
    ['QueueEdit', ['queues', 'edit', '7']],
    ['QueueCreate', ['queues', 'create', 'name']],
    ['CronCreate', ['crons', 'create']],
    ['CronEdit', ['crons', 'edit', '7']],
    ['WindowCreate', ['windows', 'create']],
    ['WindowEdit', ['windows', 'edit', 'night']],
    ['TokenCreate', ['tokens', 'create', 'ci']],
  ])('gives every field of %s', async (schema, verb) => {
    const { [schema]: written } = contract.components['schemas'] ?? {}
    const names = Object.keys((written as { properties: object }).properties)
    const fields = Object.fromEntries(names.map((name) => [name, [name]]))
    api.answer = { status: 200, body: '{}' }
    await api.run([...verb, '--data', JSON.stringify(fields)])
    const isNamed = ['TokenCreate', 'QueueCreate'].includes(schema)
    expect(JSON.parse(sent())).toEqual({ ...fields, ...(isNamed && { name: verb.at(-1) }) })
  })
})

test.each([
  [['push', 'q', 'https://e.com'], '/api/jobs'],
  [['duplicate', '16'], '/api/jobs/16/duplicate'],
  [['replay', '16'], '/api/jobs/16/replay'],
])('%j has options for retries and callbacks', async (verb, path) => {
  await api.run([
    ...verb,
    '--retries',
    'off',
    '--retry-delays',
    '10, 60',
    '--callback-events',
    'every_attempt',
  ])
  expect(api.received[0]?.url).toBe(path)
  expect(JSON.parse(sent())).toMatchObject({
    retries_enabled: false,
    retry_delays: [10, 60],
    callback_events: 'every_attempt',
  })
  expect(await api.run([...verb, '--retries', 'maybe'])).toMatchObject({ code: 1 })
})

describe('a window is changed', () => {
  test.each([
    [['--until', '2026-12-24T18:00:00Z'], { end_at: '2026-12-24T18:00:00Z' }],
    [['--until', '2h'], { end_at: '2026-11-21T14:00:00.000Z' }],
    [['--from', '2026-12-24T18:00:00Z'], { start_at: '2026-12-24T18:00:00Z' }],
    [['--from', '15m'], { start_at: '2026-11-21T12:15:00.000Z' }],
    [
      ['--from', '2026-12-24T18:00:00Z', '--for', '2h'],
      { start_at: '2026-12-24T18:00:00Z', end_at: '2026-12-24T20:00:00.000Z' },
    ],
    [['--every', 'E', '--for', '2h'], { recurring: [{ cron_expression: 'E', duration_seconds: 7200 }] }],
    [['--no-resource', '--no-reason', '--action', 'hold'], { resource: null, reason: null, action: 'hold' }],
    [['--queue', '7'], { resource: { kind: 'queue', id: 7 } }],
  ])('by %j', async (flags, body) => {
    await api.run(['windows', 'edit', 'night', ...flags])
    expect(JSON.parse(sent())).toEqual(body)
  })

  test.each([
    [[], 'no change given'],
    [['--for', '2h'], 'use --until to change the end alone'],
    [['--until', '24 December'], '--until "24 December" is neither a time'],
    [['--for', '2h', '--until', 'T'], 'exclude each other'],
  ])('not by %j', async (flags, says) => {
    const ran = await api.run(['windows', 'edit', 'night', ...flags])
    expect(ran).toMatchObject({ code: 2, out: '' })
    expect(ran.err).toContain(says)
    expect(api.received).toEqual([])
  })
})
