/** A replay of an outage in one process: what became of it, how it stops by itself and goes on, and a cancel. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Bulk, JobList } from '../../../clients/typescript/src/client.ts'
import type { ApiClient } from '../../support/servers/api-client.ts'
import { programCommand, programEnv } from '../../support/servers/processes.ts'
import { createStandaloneWorld } from '../../support/servers/standalone-world.ts'
import { latch, type Target } from '../../support/targets/target.ts'
import { until } from '../../support/until.ts'

const { newFolder, newTarget, start, close } = createStandaloneWorld()
const JOBS = 60

let client: ApiClient
let target: Target
let cli: (...args: string[]) => Promise<string>
let isUp = false

beforeAll(async () => {
  target = await newTarget()
  const folder = newFolder()
  const begun = await start(folder)
  client = begun.client
  const env = {
    ...programEnv(),
    PUNCTUAL_SERVER: String((await begun.program.logged('Standalone runs'))['url']),
    PUNCTUAL_TOKEN: readFileSync(join(folder, 'token'), 'utf8').trim(),
  }
  const [node = '', ...command] = programCommand()
  cli = async (...args) => (await promisify(execFile)(node, [...command, ...args], { env })).stdout
})
afterAll(close)

const read = async (id: number) => (await client.send<Bulk>('GET', `/api/bulk/${id}`)).body
const outcomeWhen = async (id: number, isSo: (bulk: Bulk) => boolean) => {
  await until('the bulk is so far', async () => isSo(await read(id)))
  return read(id)
}
const push = async (queue: string, path: string, count: number) => {
  const job = { queue, url: `${target.url}${path}`, retry_delays: [1] }
  await client.send('POST', '/api/jobs/batch', { jobs: Array.from({ length: count }, () => job) })
}
const deadIn = async (queue: string) =>
  (await client.jobs({ queue, status: 'dead_lettered', limit: '1000' })).jobs.length

describe('a replay of dead letters', () => {
  test('stops by itself while the target fails, and goes on with what was left once it works', async () => {
    target.route('/down', () => ({ status: isUp ? 200 : 500 }))
    await push('orders', '/down', JOBS)
    await until('all are dead letters', async () => (await deadIn('orders')) === JOBS)
    const { body: bulk, status } = await client.send<Bulk>('POST', '/api/bulk', {
      action: 'replay',
      filter: { queue: 'orders' },
      rate: 20,
      stop_when: { failed_again_percent: 50, min: 5 },
    })
    expect(status).toBe(202)
    const stopped = await outcomeWhen(bulk.id, ({ state }) => state === 'stopped')
    expect(stopped.done).toBeLessThan(JOBS)
    expect(stopped.stopped?.failed_again).toBeGreaterThanOrEqual(5)
    isUp = true
    expect(await cli('bulk', 'resume', '--yes', String(bulk.id))).toContain(
      `bulk ${bulk.id}  replay: running`,
    )
    const { outcome, done } = await outcomeWhen(
      bulk.id,
      ({ state, outcome: now }) => state === 'done' && now?.waiting === 0,
    )
    expect(done).toBe(JOBS)
    expect((outcome?.succeeded ?? 0) + (outcome?.failed_again ?? 0)).toBe(JOBS)
    expect(outcome?.succeeded).toBeGreaterThan(0)
    expect((await client.send('POST', `/api/bulk/${bulk.id}/resume`)).status).toBe(409)
    expect(await cli('bulk', 'show', String(bulk.id))).toContain(`${outcome?.succeeded} succeeded, 0 wait`)

    const { body } = await client.send<JobList>('GET', `/api/jobs?bulk_id=${bulk.id}&limit=1000`)
    expect(body.jobs).toHaveLength(JOBS)
    expect(new Set(body.jobs.map(({ bulk_id: made }) => made))).toEqual(new Set([bulk.id]))
    const dead = ['--final-status', 'dead_lettered', '-o', 'name']
    const failed = await cli('jobs', '--bulk', String(bulk.id), ...dead)
    expect(failed.trim().split('\n')).toHaveLength(outcome?.failed_again ?? 0)
  })
})

describe('a cancel', () => {
  const cancel = (id: number) => client.send('POST', `/api/jobs/${id}/cancel`)

  test('is a 200 for what was never sent, and a 409 from the moment it is', async () => {
    const held = latch()
    target.route('/held', held.answering)
    const waiting = await client.push({ queue: 'orders', url: `${target.url}/held`, delay: 600 })
    expect(await cancel(waiting.job_id)).toMatchObject({
      status: 200,
      body: { job_id: waiting.job_id, status: 'pending' },
    })
    expect(await cancel(waiting.job_id)).toMatchObject({ status: 404 })
    const sent = await client.push({ queue: 'orders', url: `${target.url}/held` })
    await target.arrived('/held')
    expect(await cancel(sent.job_id)).toMatchObject({ status: 409, body: { error: 'The job is in flight' } })
    held.open()
    await client.ended(sent.job_id)
    expect(await cancel(sent.job_id)).toMatchObject({ status: 409, body: { error: 'The job has ended' } })
    expect(target.arrivals('/held').map(({ jobId }) => jobId)).toEqual([sent.job_id])
    const other = await client.push({ queue: 'orders', url: `${target.url}/held`, delay: 600 })
    expect(await cli('cancel', '--yes', String(other.job_id), '-o', 'name')).toBe(`job/${other.job_id}\n`)
  })
})
