import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CreatedCron, Cron } from '../../../clients/typescript/src/generated/wire.ts'
import type { KindCluster } from '../../support/cluster/kind-cluster.ts'
import type { AnyObject } from '../../support/cluster/kubernetes-api.ts'
import { until } from '../../support/until.ts'
import { applyCrons, applyCronsInForce, endedRuns, MINUTE_MS, ticksFrom } from '../support/crons.ts'
import { openOwnRelease } from '../support/open-release.ts'

/** Executors are asked for 20 s before a tick; on a busy machine this much later. */
const ASKED_BEFORE_MS_MIN = 10_000
/** Statuses are looked at every 15 s. */
const STATUS_TIMEOUT_MS = 30_000
const PATH = '/apis/punctual.dev/v1alpha1/namespaces/at-rest/httpcrons'

let cluster: KindCluster

const resource = (name: string) => cluster.kubernetes.send('GET', `${PATH}/${name}`)

/** When the oldest executor pod was created of those that stay. */
async function executorsSince(): Promise<number> {
  const selector = 'labelSelector=app.kubernetes.io/component=executor'
  const { items } = await cluster.kubernetes.send('GET', `/api/v1/namespaces/at-rest/pods?${selector}`)
  const stay = (items as readonly AnyObject[]).filter(({ metadata }) => !('deletionTimestamp' in metadata))
  return Math.min(...stay.map(({ metadata }) => Date.parse(String(metadata['creationTimestamp']))))
}

/** Of the API server itself, or of the conditions, where the rules of the kind could not tell. */
async function complaint(name: string, spec: object): Promise<string> {
  try {
    await applyCrons(cluster, { [name]: spec })
  } catch (error) {
    return String(error)
  }
  const at = '--output=jsonpath={.status.conditions[?(@.type=="Ready")].message}'
  await cluster.inNamespace('wait', `hc/${name}`, '--for=condition=Ready=False', '--timeout=30s')
  return cluster.inNamespace('get', 'hc', name, at)
}

export function crons(): void {
  beforeAll(async () => {
    cluster = await openOwnRelease('at-rest')
  })

  afterAll(async () => {
    // They would tick on.
    await cluster.inNamespace('delete', 'hc', '--all', '--timeout=30s')
    await cluster.close()
  })

  describe.concurrent('a cron', () => {
    test('of kubectl wakes an installation at rest, and calls once a minute, straight and through a queue', async ({
      expect,
    }) => {
      const each = { cronExpression: '* * * * *', timeZone: 'Europe/Berlin', concurrencyPolicy: 'Forbid' }
      await cluster.applyQueue('of-crons', { maxParallelism: 1 })
      const ids = await applyCronsInForce(cluster, {
        straight: { ...each, url: cluster.target.url('straight') },
        queued: { ...each, url: cluster.target.url('queued'), queue: 'of-crons' },
      })
      // The first tick may come before a pod can start; the second one finds none as well, but is known for long.
      await Promise.all(ids.map((id) => endedRuns(cluster, id, 1)))
      const noExecutor = async () => (await cluster.executors()).wanted === 0
      await until('no executor is asked for', noExecutor, MINUTE_MS)
      const runs = await Promise.all(ids.map((id) => endedRuns(cluster, id, 2)))
      const since = await executorsSince()

      for (const each of runs) {
        const first = Date.parse(each[0]?.scheduled_at ?? '')
        expect(first % MINUTE_MS).toBe(0)
        expect(each.map(({ scheduled_at: tick }) => tick)).toEqual(ticksFrom(first, 2))
        expect(each.map(({ result }) => result)).toEqual(['succeeded', 'succeeded'])
        expect(Date.parse(each[1]?.scheduled_at ?? '') - since).toBeGreaterThan(ASKED_BEFORE_MS_MIN)
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
      const [heading, line] = (await cluster.inNamespace('get', 'hc', 'straight')).split('\n')
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
      expect(await cluster.inNamespace('get', 'hc', name)).toMatch(/ 0 4 \* \* \* +Asia\/Tokyo +true /)

      expect((await cluster.punctual.send('POST', `${path}/pause`)).status).toBe(200)
      expect((await resource(name)).spec).toMatchObject({ active: false })
      await cluster.inNamespace('wait', `hc/${name}`, '--for=condition=Scheduled=False', '--timeout=30s')
      await cluster.inNamespace('patch', 'hc', name, '--type=merge', '--patch', '{"spec":{"active":true}}')
      const isActive = async () => (await cluster.punctual.send<Cron>('GET', path)).body.is_active
      await until('it ticks again', isActive)

      expect((await cluster.punctual.send('DELETE', path)).status).toBe(204)
      expect(await cluster.inNamespace('get', 'hc', name, '--ignore-not-found')).toBe('')
      expect((await cluster.punctual.send('GET', path)).status).toBe(404)
    })

    test.for([
      ['six-fields', '0 0 3 * * *', 'must have five fields: minute, hour, day of month, month, day of week'],
      ['macro', '@daily', 'must have five fields: minute, hour, day of month, month, day of week'],
      ['no-such-minute', '61 3 * * *', 'has "61" as minute: allowed are 0 to 59, '],
      ['never', '0 0 31 2 *', 'never comes: none of its months has a day 31.'],
    ] as const)(
      'that cannot tick (%s) is told in the same words by the API and of the resource',
      async (given) => {
        const [name, cronExpression, words] = given
        const url = cluster.target.url('never')
        const body = { name, url, cron_expression: cronExpression }
        const refused = await cluster.punctual.send<{ message: string }>('POST', '/api/crons', body)

        expect(refused.status).toBe(422)
        expect(refused.body.message).toMatch(new RegExp(`^The cron expression field ${RegExp.escape(words)}`))

        expect(await complaint(name, { url, cronExpression })).toContain(words)
      },
    )
  })
}
