import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { INLINE_REQUEST_BYTES_MAX } from '../../../../src/domain/limits.ts'
import type { NewJob, PushEnd } from '../../../../src/ports/jobs.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { newJob } from '../../../support/engine/engine.ts'
import { assertClean } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

const NOON_MS = Date.UTC(2032, 4, 10, 12)
const LARGE = JSON.stringify({ pad: 'x'.repeat(INLINE_REQUEST_BYTES_MAX) })

let redis: TestRedis
test.beforeAll(({ emptyRedis }) => {
  redis = emptyRedis
})

// Few values, so that neighbours are often alike and often differ in one thing.
const job = fc.record({
  queue: fc.constantFrom('a', 'a', 'a', 'b', 'draining'),
  start: fc.constantFrom<NewJob['start']>(
    { delaySeconds: 0 },
    { delaySeconds: 30 },
    { delaySeconds: 500 },
    { runAtMs: NOON_MS + 30_000 },
    { runAtMs: NOON_MS + 700_123 },
  ),
  timeoutSeconds: fc.constantFrom(null, null, 5, 60),
  isLarge: fc.boolean(),
  key: fc.constantFrom(null, null, 'k', 'l'),
  fingerprint: fc.constantFrom('f', 'f', 'g'),
})
type Given = typeof job extends fc.Arbitrary<infer T> ? T : never

function pushOf({ queue, start, timeoutSeconds, isLarge, key, fingerprint }: Given, index: number): NewJob {
  const payload = isLarge ? LARGE : null
  return newJob({
    queue,
    start,
    idempotency: key === null ? null : { key, fingerprint },
    request: { url: `https://example.com/${index}`, timeoutSeconds, payload },
  })
}

test('jobs pushed together are answered and stored as if each came alone', async () => {
  const stories = fc.array(
    fc.tuple(job, fc.integer({ min: 1, max: 40 })).map(([one, times]) => Array<Given>(times).fill(one)),
    { minLength: 1, maxLength: 12 },
  )
  const property = fc.asyncProperty(stories, async (story) => {
    const world = await openWorld(redis, { shards: 1, startMs: NOON_MS })
    try {
      await createQueueStore(world.engine).apply('default', 'draining', {
        ...DEFAULT_QUEUE_SETTINGS,
        isDraining: true,
      })
      const given = story.flat()
      const ends = await world.newIntake().pushAll(given.map(pushOf))
      await assertEach(world, given, ends)
      await assertClean(world)
    } finally {
      world.close()
    }
  })
  await assert.doesNotReject(async () => fc.assert(property, { numRuns: 30 }))
})

async function assertEach(world: World, given: readonly Given[], ends: readonly PushEnd[]): Promise<void> {
  assert.equal(ends.length, given.length)
  const made = new Map<string, { fingerprint: string; jobId: number }>()
  const ids = new Set<number>()
  for (const [index, one] of given.entries()) {
    const end = ends[index]
    const name = `${one.queue}:${one.key}`
    const earlier = one.key === null ? undefined : made.get(name)
    if (one.queue === 'draining') {
      assert.deepEqual(end, { status: 'queue_draining', queue: 'draining' })
    } else if (earlier !== undefined && earlier.fingerprint !== one.fingerprint) {
      assert.equal(end?.status, 'idempotency_conflict')
    } else {
      assert.ok(end !== undefined && 'jobId' in end, `push ${index} was answered ${end?.status}`)
      assert.equal(end.status, earlier === undefined ? 'created' : 'repeated')
      if (earlier !== undefined) assert.equal(end.jobId, earlier.jobId)
      else {
        ids.add(end.jobId)
        made.set(name, { fingerprint: one.fingerprint, jobId: end.jobId })
        await assertStored(world, { ...one, index }, end)
      }
    }
  }
  const created = ends.filter(({ status }) => status === 'created')
  assert.equal(ids.size, created.length)
}

async function assertStored(
  world: World,
  { queue, start, timeoutSeconds, isLarge, index }: Given & { readonly index: number },
  { jobId, scheduledAtMs }: { readonly jobId: number; readonly scheduledAtMs: number },
): Promise<void> {
  const dueMs = 'runAtMs' in start ? start.runAtMs : NOON_MS + start.delaySeconds * 1000
  assert.equal(scheduledAtMs, dueMs)
  const chain = await createJobStore(world.engine).get('default', jobId)
  assert.equal(chain?.request.url, `https://example.com/${index}`)
  assert.equal(chain.request.payload, isLarge ? LARGE : null)
  assert.deepEqual([chain.queueName, chain.open?.scheduledAtMs], [queue, dueMs])
  // The timeout stands in the record's head too, for the steps.
  const keys = shardKeys(world.engine, 0)
  const localId = (await redis.client.hget(keys.queueIds, `default/${queue}`)) ?? ''
  const record = await redis.client.hget(keys.queue(localId).records, String(jobId))
  assert.equal(Number(record?.slice(16, 19)), timeoutSeconds ?? DEFAULT_QUEUE_SETTINGS.timeoutSeconds)
}
