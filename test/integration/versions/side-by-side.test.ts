/** A rolling upgrade: this version and the one before work on the same Redis, and each does what the other has written. */
import assert from 'node:assert/strict'
import { beforeAll, describe, expect, test } from 'vitest'
import type {
  Bulk,
  CreatedCron,
  CronRunList,
  QueueEdit,
  SessionList,
  TeamSessionList,
} from '../../../clients/typescript/src/generated/wire.ts'
import { createShardKeys } from '../../../src/redis/base/layout/keys.ts'
import { startInstallation, type Installation } from '../../support/engine/installation.ts'
import type { ApiClient } from '../../support/servers/api-client.ts'
import { runProgram } from '../../support/servers/processes.ts'
import { hang, statuses } from '../../support/targets/target.ts'
import { toolPath } from '../../support/tools.ts'
import { until } from '../../support/until.ts'

const FIND_BEFORE = 'version-before.sh'
const MINUTE_MS = 60_000
const ALIKE = 150
/** Where a cron's state holds its next tick. */
const TICK_PART = 5

const NOW = null
let before = ''

/** The version before may need packages of its own. */
const INSTALL_MS_MAX = 300_000

beforeAll(() => {
  before = toolPath(FIND_BEFORE)
}, INSTALL_MS_MAX)

const SETTINGS = {
  retry_delays: [1],
  alerts_enabled: true,
  callback_events: 'every_attempt',
  success_assertions: [{ type: 'status_code_equals', value: 200 }],
} as const satisfies QueueEdit

/** Everything that can become of a job; answers once all of it has. */
async function everyEnd(here: Installation) {
  const { client, target } = here
  const url = (path: string) => `${target.url}/${path}`
  target.route('/retried', statuses(500, 200))
  // Both attempts of the first chain fail; a replay is another chain.
  target.route('/dead', () => ({ status: target.arrivals('/dead').length > 2 ? 200 : 500 }))
  target.route('/judged', statuses(201, 200))
  const queue = await client.makeQueue('mails', SETTINGS)
  const pushed = (path: string, more: object = {}) =>
    client.push(
      { queue: 'mails', url: url(path), payload: { path }, tags: { path }, ...more },
      // The version before reads over it.
      { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`, tracestate: 'a=1' },
    )
  const chains = await Promise.all([
    pushed('fine', { callback_url: url('called-back'), headers: { 'X-Own': 'kept' } }),
    pushed('retried'),
    pushed('dead', { callback_url: url('called-back') }),
    pushed('judged'),
    pushed('later', { delay: 2 }),
  ])
  const alike = Array.from({ length: ALIKE }, () => ({ queue: 'alike', url: url('alike') }))
  expect((await client.send('POST', '/api/jobs/batch', { jobs: alike })).status).toBe(200)
  const ended = await Promise.all(chains.map(({ job_id: id }) => client.ended(id)))
  expect(ended.map(({ final_status: end }) => end)).toEqual([
    'success',
    'success',
    'dead_lettered',
    'success',
    'success',
  ])
  await target.arrived('/alike', ALIKE)
  await target.arrived('/called-back', 3)
  expect(target.arrivals('/fine').map(({ headers, body }) => [headers['x-own'], body])).toEqual([
    ['kept', '{"path":"fine"}'],
  ])
  return { queue, dead: chains[2]?.job_id ?? 0 }
}

/** A bulk of the API finds the dead letter, and an executor replays it. */
async function replayed({ client, target }: Installation): Promise<void> {
  const bulk = {
    action: 'replay',
    filter: { queue: 'mails', final_status: 'dead_lettered' },
  }
  const { body, status } = await client.send<Bulk>('POST', '/api/bulk', bulk)
  expect([status, body]).toEqual([202, expect.objectContaining({ matched: 1 })])
  await until('the bulk is done', async () => {
    const { body: seen } = await client.send<Bulk>('GET', `/api/bulk/${body.id}`)
    return seen.state === 'done'
  })
  await target.arrived('/dead', 3)
}

/** Lets a minutely cron have been made a minute ago, so that its next tick is due. */
async function makeDue({ client }: Installation['redis'], cronId: number): Promise<void> {
  const homes = Array.from({ length: 4 }, (_, shard) => createShardKeys(shard))
  for (const { cronStates, cronsDue } of homes) {
    const state = await client.hget(cronStates, String(cronId))
    if (state === null) continue
    const parts = state.split('|')
    const tick = Number(parts[TICK_PART])
    await client.hset(cronStates, String(cronId), parts.with(TICK_PART, String(tick - MINUTE_MS)).join('|'))
    await client.zincrby(cronsDue, -MINUTE_MS, String(cronId))
  }
}

async function ticked({ client, target, redis }: Installation): Promise<void> {
  const ids: number[] = []
  for (const more of [{}, { queue: 'mails' }]) {
    const cron = { name: 'minutely', cron_expression: '* * * * *', url: `${target.url}/ticked`, ...more }
    const { body, status } = await client.send<CreatedCron>('POST', '/api/crons', cron)
    expect(status).toBe(201)
    ids.push(body.id)
    await makeDue(redis, body.id)
  }
  for (const id of ids) {
    await until('a run of the cron is recorded', async () => {
      const { body } = await client.send<CronRunList>('GET', `/api/crons/${id}/runs`)
      return body.runs.some(({ result }) => result === 'succeeded')
    })
    expect((await client.send('DELETE', `/api/crons/${id}`)).status).toBe(204)
  }
}

/** What an API answers of what was made; both versions must be able to say it. */
async function told({ send }: Installation['client'], queue: number): Promise<Record<string, number>> {
  const paths = {
    jobs: '/api/jobs?queue=mails',
    found: '/api/jobs?tag=path:retried',
    alerts: '/api/alerts',
    crons: '/api/crons',
    queues: '/api/queues',
    bulks: '/api/bulk',
    audit: '/api/audit',
    points: `/api/queues/${queue}/stats`,
    windows: '/api/maintenance-windows',
  }
  const entries = Object.entries(paths).map(async ([name, path]) => {
    const { status, body } = await send<Record<string, unknown[]>>('GET', path)
    const rows = Object.values(body).find(Array.isArray)
    return [name, status === 200 ? (rows?.length ?? -1) : -status] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}

/** The doctor of the version before does not know every key of this one. */
async function expectHealthy({ env }: Installation): Promise<void> {
  const program = runProgram(['doctor'], env)
  const { code } = await program.exited
  const findings = program.strayLines.filter((line) => !line.startsWith('ok '))
  expect([code, ...findings, ...program.errorLines]).toEqual([0])
}

describe.concurrent.each([
  { api: 'before', executor: 'now' },
  { api: 'now', executor: 'before' },
])('the API of $api and the executor of $executor', ({ api, executor }) => {
  const versionOf = (name: string) => (name === 'now' ? NOW : before)

  test('do all that one version does, once each, and leave nothing wrong', async () => {
    const here = await startInstallation({
      apiVersion: versionOf(api),
      executorVersion: versionOf(executor),
    })
    const ticking = ticked(here)
    const { queue, dead } = await everyEnd(here)
    await replayed(here)
    await ticking
    const other = await here.startApi({}, versionOf(executor))
    const answers = [await told(here.client, queue), await told(other.client, queue)]
    expect(answers[1]).toEqual(answers[0])
    expect(Math.min(...Object.values(answers[0] ?? {}))).toBeGreaterThanOrEqual(0)
    expect(await other.client.job(dead)).toMatchObject({ final_status: 'dead_lettered' })
    const counts = ['/fine', '/retried', '/dead', '/judged', '/later', '/alike'].map(
      (path) => here.target.arrivals(path).length,
    )
    expect(counts).toEqual([1, 2, 3, 2, 1, ALIKE])
    await expectHealthy(here)
    await here.close()
  })
})

test('sessions of either version are of use at both, and are listed as far as they are known', async () => {
  const here = await startInstallation({ executors: 0 })
  const other = await here.startApi({}, before)
  const DEVICE = { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; rv:142.0) Gecko/20100101 Firefox/142.0' }
  const logIn = async ({ client }: { readonly client: ApiClient }): Promise<string> => {
    const { status, headers } = await client.send('POST', '/api/session', undefined, DEVICE)
    expect(status).toBe(201)
    return /^[^=]+=([^;]+);/.exec(String(headers.get('set-cookie')))?.[1] ?? expect.fail('no cookie')
  }
  /** On loopback the name of the cookie has the port in it. */
  const asOf = async ({ client, url }: { readonly client: ApiClient; readonly url: string }, id: string) => {
    const cookie = `punctual-${new URL(url).port}=${id}`
    return (await client.send('GET', '/api/session', undefined, { authorization: '', cookie })).status
  }
  const devices = async () => {
    const { body } = await here.client.send<SessionList>('GET', '/api/sessions')
    return body.sessions.map(({ device }) => device)
  }
  const ids = [await logIn(here)]
  expect(await devices()).toEqual(['Firefox on Windows'])
  // The version before forgets where sessions were opened, and nothing else of them.
  ids.push(await logIn(other))
  expect(await devices()).toEqual([null, null])
  ids.push(await logIn(here))
  expect(new Set(await devices())).toEqual(new Set(['Firefox on Windows', null]))
  for (const id of ids) expect([await asOf(here.api, id), await asOf(other, id)]).toEqual([200, 200])
  const team = await here.client.send<TeamSessionList>('GET', '/api/team/sessions')
  expect(team.body.sessions).toHaveLength(3)
  for (const { id } of team.body.sessions)
    expect((await here.client.send('DELETE', `/api/sessions/${id}`)).status).toBe(204)
  for (const id of ids) expect([await asOf(here.api, id), await asOf(other, id)]).toEqual([401, 401])
  await here.close()
})

describe.concurrent.each([
  { dies: 'before', rescues: 'now' },
  { dies: 'now', rescues: 'before' },
])('an executor of $dies that dies', ({ dies, rescues }) => {
  const versionOf = (name: string) => (name === 'now' ? NOW : before)

  test('is reaped by one of the other version, and its job runs again', async () => {
    const here = await startInstallation({ executorVersion: versionOf(dies) })
    here.target.route('/hangs', (_arrival, nth) => (nth === 1 ? hang() : {}))
    const { job_id: id } = await here.client.push({ queue: 'work', url: `${here.target.url}/hangs` })
    await here.target.arrived('/hangs')
    await here.startExecutor({}, versionOf(rescues))
    const [killed] = here.executors
    assert.ok(killed)
    await here.loseExecutor(killed)
    expect(await here.client.ended(id)).toMatchObject({
      final_status: 'success',
      attempt_number: 1,
    })
    expect(here.target.arrivals('/hangs')).toHaveLength(2)
    await here.reaped(killed)
    await expectHealthy(here)
    await here.close()
  })
})

test('executors of both versions share the jobs of one queue within its limit', async () => {
  const here = await startInstallation({ executors: 0 })
  await here.client.makeQueue('narrow', { max_parallelism: 3 })
  await Promise.all([here.startExecutor({}, before), here.startExecutor({}, NOW)])
  const jobs = Array.from({ length: 300 }, () => ({ queue: 'narrow', url: `${here.target.url}/narrow` }))
  await here.client.send('POST', '/api/jobs/batch', { jobs })
  await here.target.arrived('/narrow', jobs.length)
  expect(here.target.mostOpen('/narrow')).toBeLessThanOrEqual(3)
  expect(new Set(here.target.arrivals('/narrow').map(({ jobId }) => jobId)).size).toBe(jobs.length)
  await here.close()
})
