import assert from 'node:assert/strict'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { createCronStore } from '../../../../src/redis/crons/cron-store.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { cronSettings } from '../../../support/engine/cron-settings.ts'
import { pushOne } from '../../../support/engine/model-executor.ts'
import { openWorld } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

let redis: TestRedis
test.beforeAll(({ emptyRedis }) => {
  redis = emptyRedis
})

test('a queue that a push or a run makes has the default settings', async () => {
  const world = await openWorld(redis)
  const crons = createCronStore(world.engine)
  await pushOne(world.newIntake(), { queue: 'pushed' })
  const { cronId } = await crons.apply('default', 'hourly', cronSettings({ queue: 'ticked' }))
  assert.equal((await crons.runNow('default', cronId)).status, 'started')
  for (const name of ['pushed', 'ticked']) {
    const queue = await createQueueStore(world.engine).getByName('default', name)
    assert.deepEqual(queue?.settings, DEFAULT_QUEUE_SETTINGS)
    assert.equal(queue.counts.pending, 1)
  }
  world.close()
})
