import { describe, expect, test } from 'vitest'
import { JobIds } from '../../../../../../src/domain/jobs/job-ids.ts'
import { LOST_LEASES_MAX } from '../../../../../../src/domain/limits.ts'
import type { JobRequest } from '../../../../../../src/domain/jobs/job.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../../../src/domain/jobs/queue-settings.ts'
import type { RedisConnection } from '../../../../../../src/redis/base/client/connection.ts'
import { createEngine } from '../../../../../../src/redis/base/engine/engine.ts'
import { decodeFinished } from '../../../../../../src/redis/base/layout/finished-record.ts'
import { encodeRequest } from '../../../../../../src/redis/base/layout/job-record.ts'
import { encodeSettings } from '../../../../../../src/redis/base/layout/queue-record.ts'
import { createShardKeys } from '../../../../../../src/redis/base/layout/keys.ts'
import { prepareLoss } from '../../../../../../src/redis/jobs/execute/finish/lost-job.ts'
import { jobRequest } from '../../../../../support/engine/engine.ts'
import { quietLogger, quietMetrics } from '../../../../../support/quiet.ts'

const NOW_MS = 1_800_000_000_000
const keys = createShardKeys(0)
const queue = keys.queue('7')
const jobIds = new JobIds(1, '0123456789ab')
const jobId = jobIds.idOf(0, 5, 1)
const entry = { id: String(jobId), queue: '7', token: '3' }
const { hash, json } = encodeSettings({ ...DEFAULT_QUEUE_SETTINGS, retriesEnabled: false })

/** An engine over hashes that stand still. */
function engineOver(hashes: Record<string, Record<string, string>>) {
  const connection = {
    hget: (key: string, field: string) => Promise.resolve(hashes[key]?.[field] ?? null),
  } as unknown as RedisConnection
  return createEngine({
    runner: {
      run: () => Promise.reject(new Error('reads only')),
      read: (reads) => reads(connection),
      redisNowMs: () => NOW_MS,
      noteRedisTime: () => undefined,
    },
    jobIds,
    logger: quietLogger,
    metrics: quietMetrics,
  })
}

/** A stored job with so many losses before this one. */
function stored(request: JobRequest, losses: number) {
  const { inline, large } = encodeRequest(request)
  const flags = large === '' ? '0' : '1'
  const record = `${NOW_MS}1${losses}${flags}030${hash}|${inline}`
  return {
    [queue.records]: { [jobId]: record },
    [queue.payloads]: large === '' ? {} : { 5: large },
    [queue.meta]: { n: 'default/emails' },
    [keys.settings]: { [hash]: json },
  }
}

describe('a job of a lost executor', () => {
  test('goes back to its queue while losses are left', async () => {
    const hashes = stored(jobRequest(), LOST_LEASES_MAX - 2)
    expect(await prepareLoss(engineOver(hashes), keys, entry)).toMatchObject({ kind: 'g', id: jobId })
  })

  test('goes back when its record is gone', async () => {
    expect(await prepareLoss(engineOver({}), keys, entry)).toMatchObject({ kind: 'g', id: jobId })
  })

  test.each([
    ['a small request', jobRequest({ payload: '{"a":1}' })],
    ['a large payload', jobRequest({ payload: JSON.stringify('x'.repeat(10_000)) })],
    ['huge headers', jobRequest({ headers: { a: 'x'.repeat(8_000) }, payload: '1' })],
    ['huge headers and no payload', jobRequest({ headers: { a: 'x'.repeat(8_000) } })],
  ])('fails at the last loss, with %s', async (_, request) => {
    const hashes = stored(request, LOST_LEASES_MAX - 1)
    const job = await prepareLoss(engineOver(hashes), keys, entry)
    expect(job).toMatchObject({ kind: 'f', id: jobId, settingsHash: hash, token: '3' })
    const finished = decodeFinished(job.record)
    expect(finished.request.url).toBe(request.url)
    expect(finished.attempts).toMatchObject([
      { failureReason: 'executor_lost', startedAtMs: NOW_MS, completedAtMs: NOW_MS, durationMs: 0 },
    ])
  })

  test('is set aside when its large part is gone', async () => {
    const hashes = stored(jobRequest({ payload: JSON.stringify('x'.repeat(10_000)) }), LOST_LEASES_MAX - 1)
    expect(await prepareLoss(engineOver({ ...hashes, [queue.payloads]: {} }), keys, entry)).toMatchObject({
      kind: 'x',
    })
  })

  test.each([
    ['its request', (record: string) => record.slice(0, record.indexOf('\n') + 5), LOST_LEASES_MAX - 1],
    ['its chain', (record: string) => record.replace('|', '|[['), 0],
  ])('is set aside when %s is damaged', async (_, damage, losses) => {
    const hashes = stored(jobRequest(), losses)
    const jobs = Object.entries(hashes[queue.records] ?? {}).map(([id, record]) => [id, damage(record)])
    const damaged = { ...hashes, [queue.records]: Object.fromEntries(jobs) as Record<string, string> }
    expect(await prepareLoss(engineOver(damaged), keys, entry)).toMatchObject({ kind: 'x', id: jobId })
  })

  test('a callback ends at its last loss', async () => {
    const record = `${NOW_MS}1${LOST_LEASES_MAX - 1}0010-----------|\n["http://a/","default","w"]\n{}`
    const hashes = { [queue.records]: { [jobId]: record } }
    expect(await prepareLoss(engineOver(hashes), keys, entry)).toMatchObject({ kind: 'c' })
  })
})
