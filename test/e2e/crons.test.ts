import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, inject, test } from 'vitest'
import type { CreatedCron, Cron, CronRun, CronRunList } from '../../src/contract/generated/wire.ts'
import { openKindCluster, RELEASE_NAMESPACE } from '../support/cluster/kind-cluster.ts'
import type { AnyObject } from '../support/cluster/kubernetes-api.ts'
import { until } from '../support/until.ts'
import { EXECUTOR_PODS, killNow, leaderOf } from './support/kills.ts'

const MINUTE_MS = 60_000
/** A tick to wait for, and what becomes of it. */
const TICK_TIMEOUT_MS = 2 * MINUTE_MS
/** The promise of the README, with an executor that had to be started first. */
const LATE_MS_MAX = 1_000
/** A cron is in force by then, and its tick is not over. */
const BEFORE_TICK_MS = 25_000
/** Statuses are looked at every 15 s. */
const STATUS_TIMEOUT_MS = 30_000
const PATH = `/apis/punctual.dev/v1alpha1/namespaces/${RELEASE_NAMESPACE}/httpcrons`

const cluster = openKindCluster(inject('kindAccess'))
const inNamespace = (...given: string[]) => cluster.kubectl('--namespace', RELEASE_NAMESPACE, ...given)
const folder = mkdtempSync(join(tmpdir(), 'punctual-crons-'))

afterAll(async () => {
  // They would tick on, and keep executors from the scenarios that want none.
  await inNamespace('delete', 'hc', '--all', '--timeout=30s')
  await cluster.close()
  rmSync(folder, { recursive: true })
})

/** Of crons by their names. */
type Specs = Readonly<Record<string, object>>

async function apply(specs: Specs): Promise<void> {
  const [apiVersion, kind] = ['punctual.dev/v1alpha1', 'HttpCron']
  const items = Object.entries(specs).map(([name, spec]) => ({ apiVersion, kind, metadata: { name }, spec }))
  const file = join(folder, `${items[0]?.metadata.name}.json`)
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  await inNamespace('apply', '--filename', file)
}

async function applyInForce(specs: Specs): Promise<void> {
  await apply(specs)
  const crons = Object.keys(specs).map((name) => `hc/${name}`)
  await cluster.ready(...crons)
}

const resource = (name: string) => cluster.kubernetes.send('GET', `${PATH}/${name}`)
const idOf = async (name: string) => Number((await resource(name)).status?.['id'])

/** Oldest first. */
async function runsOf(id: number): Promise<CronRun[]> {
  const { body } = await cluster.punctual.send<CronRunList>('GET', `/api/crons/${id}/runs`)
  return body.runs.toReversed()
}

function ticksFrom(firstMs: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    new Date(firstMs + index * MINUTE_MS).toISOString().replace('Z', '+00:00'),
  )
}

const nextMinuteMs = () => (Math.floor(Date.now() / MINUTE_MS) + 1) * MINUTE_MS

/** Answers all runs once those of so many ticks have ended. */
function endedRuns(id: number, count: number): Promise<CronRun[]> {
  const ended = async () => {
    const runs = await runsOf(id)
    return runs.length >= count && runs.every(({ result }) => result !== 'running') ? runs : null
  }
  return until(`${count} runs of cron ${id} have ended`, ended, TICK_TIMEOUT_MS)
}

async function lateMs(jobId: number | null): Promise<number> {
  const { started_at: started, scheduled_at: scheduled } = await cluster.punctual.job(jobId ?? 0)
  return Date.parse(started ?? '') - Date.parse(scheduled)
}

describe.concurrent('a cron', () => {
  test('of kubectl wakes an installation at rest, and calls once a minute, straight and through a queue', async ({
    expect,
  }) => {
    const each = { cronExpression: '* * * * *', timeZone: 'Europe/Berlin', concurrencyPolicy: 'Forbid' }
    await cluster.applyQueue('of-crons', { maxParallelism: 1 })
    await applyInForce({
      straight: { ...each, url: cluster.target.url('straight') },
      queued: { ...each, url: cluster.target.url('queued'), queue: 'of-crons' },
    })
    const ids = await Promise.all(['straight', 'queued'].map(idOf))
    // The first tick may come before a pod can start; the second one finds none as well, but is known for long.
    await Promise.all(ids.map((id) => endedRuns(id, 1)))
    const noExecutor = async () => (await cluster.executors()).wanted === 0
    await until('no executor is asked for', noExecutor, MINUTE_MS)
    const runs = await Promise.all(ids.map((id) => endedRuns(id, 2)))

    for (const each of runs) {
      const first = Date.parse(each[0]?.scheduled_at ?? '')
      expect(first % MINUTE_MS).toBe(0)
      expect(each.map(({ scheduled_at: tick }) => tick)).toEqual(ticksFrom(first, 2))
      expect(each.map(({ result }) => result)).toEqual(['succeeded', 'succeeded'])
      expect(await lateMs(each[1]?.job_id ?? null)).toBeLessThan(LATE_MS_MAX)
    }
    for (const label of ['straight', 'queued']) {
      expect(Object.values((await cluster.target.report(label)).calls)).toEqual([1, 1])
    }

    const seconds = (text = '') => new Date(text).toISOString().replace('.000Z', 'Z')
    const last = runs[0]?.[1]?.scheduled_at
    await expect
      .poll(async () => (await resource('straight')).status, { timeout: STATUS_TIMEOUT_MS })
      .toMatchObject({
        lastRunTime: seconds(last),
        lastRunResult: 'Succeeded',
        lastSuccessTime: seconds(last),
        nextRunTime: seconds(ticksFrom(Date.parse(last ?? ''), 2)[1]),
        consecutiveFailures: 0,
      })
    const [heading, line] = (await inNamespace('get', 'hc', 'straight')).split('\n')
    expect(heading).toMatch(/^NAME +READY +SCHEDULE +ZONE +ACTIVE +LAST +RESULT +NEXT +AGE *$/)
    expect(line).toMatch(
      /^straight +True +\* \* \* \* \* +Europe\/Berlin +true +\d+s +Succeeded +\d{4}-\d\d-\d\dT\d\d:\d\d:00Z +\S+ *$/,
    )
  })

  test('of the API is a resource, edited and deleted from both sides', async () => {
    const url = cluster.target.url('by-api')
    const given = { name: 'Nightly mail', url, cron_expression: '0 3 * * *', payload: { to: 'ada' } }
    const make = () =>
      cluster.punctual.send<CreatedCron>('POST', '/api/crons', given, { 'idempotency-key': 'nightly-mail' })
    const [made, repeated] = await Promise.all([make(), make()])
    expect(made).toMatchObject({ status: 201, body: { name: 'Nightly mail', is_active: true } })
    expect(repeated).toMatchObject({ status: 201, body: made.body })
    const path = `/api/crons/${made.body.id}`
    const { metadata, spec } = await until('it is a resource', async () => {
      const { items } = (await cluster.kubernetes.send('GET', PATH)) as unknown as { items: AnyObject[] }
      return items.find(({ status }) => status?.['id'] === made.body.id)
    })
    const { name } = metadata
    expect(name).toMatch(/^nightly-mail-[0-9a-f]{16}$/)
    expect(spec).toMatchObject({ displayName: 'Nightly mail', url, payload: '{"to":"ada"}' })

    const change = { cron_expression: '0 4 * * *', time_zone: 'Asia/Tokyo' }
    expect(await cluster.punctual.send('PATCH', path, change)).toMatchObject({
      status: 200,
      body: { ...change, next_run_at: expect.stringContaining('T19:00:00.000+00:00') as string },
    })
    expect(await inNamespace('get', 'hc', name)).toMatch(/ 0 4 \* \* \* +Asia\/Tokyo +true /)

    expect((await cluster.punctual.send('POST', `${path}/pause`)).status).toBe(200)
    expect((await resource(name)).spec).toMatchObject({ active: false })
    await inNamespace('wait', `hc/${name}`, '--for=condition=Scheduled=False', '--timeout=30s')
    await inNamespace('patch', 'hc', name, '--type=merge', '--patch', '{"spec":{"active":true}}')
    const isActive = async () => (await cluster.punctual.send<Cron>('GET', path)).body.is_active
    await until('it ticks again', isActive)

    expect((await cluster.punctual.send('DELETE', path)).status).toBe(204)
    expect(await inNamespace('get', 'hc', name, '--ignore-not-found')).toBe('')
    expect((await cluster.punctual.send('GET', path)).status).toBe(404)
  })

  test.for([
    ['six-fields', '0 0 3 * * *', 'must have five fields: minute, hour, day of month, month, day of week'],
    ['macro', '@daily', 'must have five fields: minute, hour, day of month, month, day of week'],
    ['no-such-minute', '61 3 * * *', 'has "61" as minute: allowed are 0 to 59, '],
    ['never', '0 0 31 2 *', 'never comes: none of its months has a day 31.'],
  ] as const)('that cannot tick (%s) is told in the same words by the API and kubectl', async (given) => {
    const [name, cronExpression, words] = given
    const url = cluster.target.url('never')
    const body = { name, url, cron_expression: cronExpression }
    const refused = await cluster.punctual.send<{ message: string }>('POST', '/api/crons', body)

    expect(refused.status).toBe(422)
    expect(refused.body.message).toMatch(new RegExp(`^The cron expression field ${RegExp.escape(words)}`))

    expect(await complaint(name, { url, cronExpression })).toContain(words)
  })
})

/** Of kubectl itself, or of the conditions, where the rules of the kind could not tell. */
async function complaint(name: string, spec: object): Promise<string> {
  try {
    await apply({ [name]: spec })
  } catch (error) {
    return String(error)
  }
  const at = '--output=jsonpath={.status.conditions[?(@.type=="Ready")].message}'
  await inNamespace('wait', `hc/${name}`, '--for=condition=Ready=False', '--timeout=30s')
  return inNamespace('get', 'hc', name, at)
}

test('ticks are neither lost nor doubled when the leader and the executors die about the minute', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `dying-${index}`)
  const url = cluster.target.url('dying')
  await cluster.applyQueue('dying', {})
  const isEarly = () => nextMinuteMs() - Date.now() > BEFORE_TICK_MS
  await until('there is time before the minute', isEarly, MINUTE_MS)
  const first = nextMinuteMs()
  const specOf = (_: string, index: number) => ({
    ...{ url, cronExpression: '* * * * *' },
    ...(index % 2 === 0 ? {} : { queue: 'dying' }),
  })
  await applyInForce(Object.fromEntries(names.map((name, index) => [name, specOf(name, index)])))
  const ids = await Promise.all(names.map(idOf))
  // Once a little before the tick and once just after the next.
  for (const aboutMs of [first - 500, first + MINUTE_MS + 50]) {
    await until('it is about the minute', () => Date.now() >= aboutMs, 2 * MINUTE_MS)
    const [leader, executors] = await Promise.all([
      leaderOf(cluster).then((name) => killNow(cluster, name)),
      killNow(cluster, ...EXECUTOR_PODS),
    ])
    expect([leader, executors]).toEqual([
      expect.stringMatching(/^pod "punctual-controller-\S+" .*deleted/),
      expect.stringMatching(/^pod "punctual-executor-\S+" .*deleted/),
    ])
  }
  const runs = await Promise.all(ids.map((id) => endedRuns(id, 2)))

  for (const each of runs) {
    expect(each.map(({ scheduled_at: tick }) => tick)).toEqual(ticksFrom(first, 2))
    expect(each.map(({ result }) => result)).toEqual(['succeeded', 'succeeded'])
  }
  // A call in flight at the kill is made once more, with the same id.
  const { calls } = await cluster.target.report('dying')
  expect(Object.keys(calls)).toHaveLength(names.length * 2)
})
