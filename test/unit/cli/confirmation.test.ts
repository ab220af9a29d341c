import { describe, expect, test } from 'vitest'
import { useApi } from './cli-fixture.ts'

const api = useApi()
const ok = (body: object) => ({ status: 200, body: JSON.stringify(body) })
const QUEUE = ok({ name: 'mails', counts: { pending: 3, delayed: 2, processing: 1, dead: 12 } })
const SMALL = ok({ name: 'mails', counts: { pending: 1, delayed: 0, processing: 0, dead: 1 } })
const CRON = ok({ name: 'Nightly \u202e', cron_expression: '0 3 * * *' })
const COUNTED = ok({ matched: 1000, is_at_least: true, sample: [16, 32] })
const ALERTS = ok({ alerts: [{}, {}], next_cursor: null })
const MORE_ALERTS = ok({ alerts: [{}], next_cursor: 'c' })

/** What is called, what is answered before, what is asked, and what is sent once it is confirmed. */
const VERBS: ReadonlyArray<
  readonly [line: string, before: readonly { status: number; body: string }[], asks: string, sent: string]
> = [
  ['delete 16', [], 'Delete job 16?', 'DELETE /api/jobs/16'],
  [
    'queues delete 7',
    [QUEUE],
    'Delete queue 7 mails with 5 waiting jobs, 1 in flight and 12 dead letters?',
    'DELETE /api/queues/7',
  ],
  ['queues purge 7', [QUEUE], 'Purge 12 dead letters of queue 7 mails?', 'POST /api/queues/7/purge'],
  [
    'queues delete 7 -o name',
    [SMALL],
    'Delete queue 7 mails with 1 waiting job, 0 in flight and 1 dead letter?',
    'DELETE /api/queues/7',
  ],
  ['crons delete 3', [CRON], 'Delete cron 3 Nightly \\u202e (0 3 * * *)?', 'DELETE /api/crons/3'],
  ['windows delete night', [], 'Delete window night?', 'DELETE /api/maintenance-windows/night'],
  ['alerts delete 9', [], 'Delete alert 9?', 'DELETE /api/alerts/9'],
  ['alerts delete --all', [ALERTS], 'Delete 2 alerts?', 'DELETE /api/alerts?all=true'],
  [
    'alerts delete --type failure',
    [MORE_ALERTS],
    'Delete 1 or more alerts?',
    'DELETE /api/alerts?type=failure',
  ],
  ['tokens revoke ci', [], 'Revoke token ci?', 'DELETE /api/tokens/ci'],
  ['secrets delete s', [], 'Delete signing secret s?', 'DELETE /api/signing-secrets/s'],
  ['bulk create purge --all', [COUNTED], 'Purge 1000 or more jobs, such as 16, 32?', 'POST /api/bulk'],
  [
    'bulk create delete 16 32',
    [ok({ matched: 1, is_at_least: false, sample: [] })],
    'Delete 1 job?',
    'POST /api/bulk',
  ],
  ['cancel 16', [], 'Cancel job 16?', 'POST /api/jobs/16/cancel'],
  [
    'bulk resume 7',
    [ok({ action: 'replay', matched: 10, is_at_least: true, done: 4, skipped: 1, failed: 1 })],
    'Resume bulk 7, which has 4 or more jobs left to replay?',
    'POST /api/bulk/7/resume',
  ],
  [
    'bulk resume 8',
    [ok({ action: 'purge', matched: 3, is_at_least: false, done: 2, skipped: 0, failed: 0 })],
    'Resume bulk 8, which has 1 job left to purge?',
    'POST /api/bulk/8/resume',
  ],
  ['bulk create cancel --all', [COUNTED], 'Cancel 1000 or more jobs, such as 16, 32?', 'POST /api/bulk'],
]

/** The requests that would change something; a dry run of a bulk is none. */
const changes = () =>
  api.received
    .filter(({ method, body }) => method !== 'GET' && !body.includes('"dry_run":true'))
    .map(({ method, url }) => `${method} ${url}`)

describe.each(VERBS)('%s', (line, before, asks, sent) => {
  const run = (answer: string | null) => {
    api.firstAnswers = [...before]
    const asked: string[] = []
    const ask = async (question: string) => {
      asked.push(question)
      return answer
    }
    return api.run(line.split(' '), { ask }).then((ran) => ({ ...ran, asked }))
  }

  test.each(['y', 'Yes', ' y '])('asks on a terminal, and goes on at %j', async (answer) => {
    expect((await run(answer)).asked).toEqual([`${asks} This cannot be undone. [y/N] `])
    expect(changes()).toEqual([sent])
  })

  test.each(['', 'n', 'yesterday', null])('changes nothing at %j', async (answer) => {
    expect(await run(answer)).toMatchObject({
      out: '',
      err: 'punctual: not confirmed, so nothing was changed\n',
      code: 1,
    })
    expect(changes()).toEqual([])
  })

  test('needs --yes where there is no terminal', async () => {
    expect(await api.run(line.split(' '))).toEqual({
      out: '',
      err: 'punctual: this cannot be undone and there is no terminal to ask: add --yes to confirm\n',
      code: 2,
    })
    expect(api.received).toEqual([])
  })

  test('asks nothing with --yes', async () => {
    const ask = () => Promise.reject(new Error('asked'))
    await api.run([...line.split(' '), '--yes'], { ask })
    expect(changes()).toEqual([sent])
  })

  test('asks nothing for a dry run, which changes nothing', async () => {
    const ask = () => Promise.reject(new Error('asked'))
    await api.run([...line.split(' '), '--dry-run'], { ask })
    expect(changes()).toEqual([])
  })
})

test.each(['retry', 'fire', 'replay'])('a bulk to %s asks nothing', async (action) => {
  api.answer = { status: 202, body: '{}' }
  await api.run(['bulk', 'create', action, '16'])
  expect(changes()).toEqual(['POST /api/bulk'])
})
