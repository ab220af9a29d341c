import { afterAll, expect, test } from 'vitest'
import { until } from '../../support/until.ts'
import { openSharedRelease } from '../support/open-release.ts'
import { pushMany } from '../support/pushes.ts'

const ARRIVAL_TIMEOUT_MS = 60_000

const cluster = openSharedRelease()
const { inNamespace } = cluster

async function arrived(label: string, count: number) {
  const enough = async () => {
    const report = await cluster.target.report(label)
    return report.arrivals >= count ? report : null
  }
  return until(`${count} jobs of ${label} arrived`, enough, ARRIVAL_TIMEOUT_MS)
}

async function queueId(name: string): Promise<number> {
  const { queue_id: id } = await until(`queue ${name} is applied`, () => cluster.punctual.queueNamed(name))
  return id
}

export function queues(): void {
  afterAll(() => cluster.close())

  test('a limit that is raised holds for the jobs that wait', async () => {
    await cluster.applyQueue('raised', { maxParallelism: 1 })
    const url = cluster.target.url('raised', { delayMs: 500 })
    await pushMany(cluster.punctual, 24, { queue: 'raised', url })

    expect((await arrived('raised', 3)).mostInFlight).toBe(1)

    await cluster.applyQueue('raised', { maxParallelism: 4 })

    expect((await arrived('raised', 24)).mostInFlight).toBe(4)
  })

  test('a queue paused by kubectl calls nothing, and one resumed by the API goes on', async () => {
    await cluster.applyQueue('halted', {})
    await inNamespace('patch', 'hq', 'halted', '--type=merge', '--patch', '{"spec":{"active":false}}')
    const id = await queueId('halted')
    const isPaused = async () => (await cluster.punctual.queueNamed('halted'))?.is_active === false
    await until('the pause is in force', isPaused)
    await cluster.punctual.push({ queue: 'halted', url: cluster.target.url('halted') })
    // Pushed later to a queue like it, and done.
    const { job_id: later } = await cluster.punctual.push({ queue: 'open', url: cluster.target.url('open') })
    await cluster.punctual.ended(later, ARRIVAL_TIMEOUT_MS)

    expect((await cluster.target.report('halted')).arrivals).toBe(0)

    expect((await cluster.punctual.send('POST', `/api/queues/${id}/resume`)).status).toBe(200)
    expect((await arrived('halted', 1)).arrivals).toBe(1)
    expect((await cluster.queueResource('halted')).spec?.['active']).toBe(true)
  })

  test('a deleted queue lets its call end, and takes the jobs that wait with it', async () => {
    await cluster.applyQueue('deleted', { maxParallelism: 1 })
    // Its end would let the next begin before the deletion is in force.
    const url = cluster.target.url('deleted', { delayMs: 15_000 })
    await pushMany(cluster.punctual, 5, { queue: 'deleted', url })
    await arrived('deleted', 1)
    // Ends when the controller has let the resource go.
    await inNamespace('delete', 'hq', 'deleted', '--timeout=30s')

    expect(await cluster.punctual.queueNamed('deleted')).toBeNull()
    const atRest = async () => (await cluster.target.report('deleted')).inFlight === 0
    await until('the call has ended', atRest, ARRIVAL_TIMEOUT_MS)
    // A queue of the same name is a new one, without the old jobs.
    const { job_id: anew } = await cluster.punctual.push({
      queue: 'deleted',
      url: cluster.target.url('deleted-anew'),
    })
    await cluster.punctual.ended(anew, ARRIVAL_TIMEOUT_MS)

    expect((await cluster.target.report('deleted')).arrivals).toBe(1)
  })
}
