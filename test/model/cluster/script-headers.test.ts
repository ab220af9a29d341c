import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RedisConnection } from '../../../src/redis/client/connection.ts'
import { SCRIPT_NAMES } from '../../../src/redis/client/scripts.ts'
import { openConnection, openWorld } from '../../support/engine/model-world.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { readScriptHeader } from '../../support/lua/script-header.ts'
import { CRON_SHARDS } from '../crons/cron-scenes.ts'
import { SCENES } from './tear-scenes.ts'

/** What a key of the product is called in a script's head: `q:7` is q, `trash:7:b` is trash b, outside a shard too. */
function wordOf(key: string): string {
  const [word, , part] = key.replace(/^punctual:(\{[^}]*\}:)?/, '').split(':')
  return part === undefined ? (word ?? '') : `${word} ${part}`
}

describe('the keys a step is sent with are those its head names', () => {
  let redis: TestRedis
  let connection: RedisConnection

  beforeAll(async () => {
    redis = await startRedis({ settings: ['--appendonly', 'no'] })
    connection = await openConnection(redis.url)
  })
  afterAll(async () => {
    connection.disconnect()
    await redis.stop()
  })

  test('for every step', () => {
    expect(new Set(SCENES.map(([name]) => name))).toEqual(new Set(SCRIPT_NAMES))
  })

  test.each(SCENES)('%s: %s', async (name, _, scene) => {
    const world = await openWorld(redis, { connection, shards: CRON_SHARDS[name] ?? 1 })
    const act = await scene({ world, client: redis.client, intake: world.newIntake(), accepted: [] })
    await act()
    const { keys } = readScriptHeader(name)
    const sent = (world.sent.get(name)?.keys ?? []).slice(0, keys.length).map(wordOf)
    expect(sent).toHaveLength(keys.length)
    keys.forEach((words, i) => {
      // `ix:<block>`, `cf or co`
      const known = words.split(' or ').map((one) => one.replace(/:<.*/, ''))
      expect(known).toContain(sent[i])
    })
  })
})
