import assert from 'node:assert/strict'
import { test as plain } from 'vitest'
import { STAYS } from './worker-processes.ts'
import { startRedis, type TestRedis } from './redis-server.ts'

/**
 * `test` with one Redis for all files that a worker runs, without AOF: `test.beforeAll(({ emptyRedis }) => …)`. A file
 * finds it empty and must leave its settings as they were; one that kills, fills or reconfigures its server starts its
 * own (`startRedis`).
 */
export const test = plain
  .extend('workerRedis', { scope: 'worker' }, async ({}, { onCleanup }) => {
    const redis = await startRedis({ settings: ['--appendonly', 'no'] })
    process.env[STAYS] = String(redis.process.pid)
    onCleanup(() => redis.stop())
    return { redis, settings: await settingsOf(redis) }
  })
  .extend('emptyRedis', { scope: 'file' }, async ({ workerRedis: { redis, settings } }, { onCleanup }) => {
    await redis.client.flushall()
    await redis.client.script('FLUSH')
    onCleanup(async () => {
      assert.deepEqual(await settingsOf(redis), settings, 'the next file would meet other settings')
    })
    return redis
  })

async function settingsOf(redis: TestRedis): Promise<unknown> {
  return redis.client.config('GET', '*')
}
