/** The program as a script calls it, over a real API: what it sends is taken, and what it shows is there. */
import { execFile } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Installation, startInstallation, TOKEN } from '../../support/engine/installation.ts'
import { programCommand, programEnv } from '../../support/servers/processes.ts'
import { statuses } from '../../support/targets/target.ts'

let here: Installation
beforeAll(async () => {
  here = await startInstallation({ executors: 1 })
})
afterAll(() => here.close())

interface Ran {
  readonly out: string
  readonly err: string
  readonly code: number
}

function punctual(...args: readonly string[]): Promise<Ran> {
  const [node = '', main = ''] = programCommand()
  const env = { ...programEnv(), PUNCTUAL_SERVER: here.api.url, PUNCTUAL_TOKEN: TOKEN }
  return new Promise((resolve) => {
    execFile(node, [main, ...args], { env }, (fault, out, err) =>
      resolve({ out, err, code: fault === null ? 0 : Number(fault.code) }),
    )
  })
}

test('a letter shows the last call of its newest attempt, and what it became', async () => {
  here.target.route('/hook', statuses(503, 504))
  const push = ['push', 'letters', `${here.target.url}/hook`, '--retry-delays', '1s', '--timeout', '1m']
  const ended = await punctual(...push, '--wait', '2m')
  expect(ended.code).toBe(1)
  expect(ended.out).toMatch(/^< 504$/m)
  const [, id = ''] = /^job (\d+) in queue/.exec(ended.out) ?? []

  const shown = await punctual('job', id)
  const [, retryId] = /^2 +(\d+) /m.exec(shown.out) ?? []
  expect(shown.out).toMatch(new RegExp(`^last call of job ${retryId}, `, 'm'))
  expect(shown.out).toMatch(/^< 504$/m)
  expect(shown.out).not.toMatch(/^< 503$/m)

  here.target.route('/hook', statuses(200))
  const replayed = await punctual('replay', id, '--wait', '2m')
  const [, newId = ''] = /^job (\d+) in queue/.exec(replayed.out) ?? []
  expect(replayed.code).toBe(0)
  expect((await punctual('job', id)).out).toContain(`replayed as job ${newId} (punctual job ${newId})\n`)
}, 120_000)

test('spans are taken wherever a time is', async () => {
  for (const line of [
    'jobs --created-after 1h --created-before 1s',
    'jobs --ended-after 7d',
    'alerts --after 1d --before 1s',
    'audit --after 1h',
    'stats --after 2h --step 5m',
    'stats --after 2h --until 1h --compare',
    'tokens create spans --until 1d',
    'windows create --name spans --from 1h --until 2h',
    'alerts mute --all --for 30m',
  ]) {
    expect([line, await punctual(...line.split(' '))]).toMatchObject([line, { code: 0 }])
  }
  const { out } = await punctual('crons', 'preview', '0 0 1 1 *', '--count', '1', '--after', '3650d')
  expect(Number(/^(\d{4})-01-01T/m.exec(out)?.[1])).toBeGreaterThanOrEqual(new Date().getUTCFullYear() + 9)
}, 120_000)

test('what cannot be undone is not done without a terminal, and done with --yes', async () => {
  const expression = '* * * * *'
  const made = [
    [
      ['crons', 'create', 'gone', expression, 'https://e.com', '--paused'],
      ['crons', 'delete'],
    ],
    [['push', 'gone', 'https://e.com', '--delay', '1h'], ['delete']],
  ] as const
  for (const [create, remove] of made) {
    const name = (await punctual(...create, '-o', 'name')).out.trim()
    const refused = await punctual(...remove, name)
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toContain('add --yes')
    const done = await punctual(...remove, name, '--yes')
    expect(done).toMatchObject({ code: 0, err: '' })
    expect(done.out).toMatch(/ deleted\n$/)
  }
}, 120_000)
