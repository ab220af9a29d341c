import { Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import type { StoreRisk, StoreServer } from '../../../../../src/ports/health.ts'
import { fieldsOf, serverOf } from '../../../../../src/redis/base/installation/server-look.ts'
import { ServerWatch } from '../../../../../src/redis/base/installation/server-watch.ts'
import { createRedisMetrics } from '../../../../../src/telemetry/redis/redis-metrics.ts'
import { createFakeClock } from '../../../../support/fake-clock.ts'
import { quietLogger } from '../../../../support/quiet.ts'

const SAFE = [
  'used_memory:1000',
  'mem_not_counted_for_evict:100',
  'maxmemory:2000',
  'maxmemory_policy:noeviction',
  'aof_enabled:1',
  'aof_last_write_status:ok',
  'aof_last_bgrewrite_status:ok',
  'rdb_last_bgsave_status:ok',
  'rdb_last_save_time:1796000000',
  'evicted_keys:0',
]
const EVICTS = 'Redis may evict jobs (maxmemory-policy is allkeys-lru)'

/** An INFO of a safe server, with other values of some fields. */
function infoWith(...changed: readonly string[]): StoreServer {
  const fields = [...SAFE, ...changed].join('\r\n')
  return serverOf('a:6379', fieldsOf(`# Memory\r\n${fields}\r\n`))
}

/** A watch of servers that say what the test sets. */
async function openWatch(accepted: readonly StoreRisk[] = [], first: readonly string[] = []) {
  const clock = createFakeClock()
  const registry = new Registry()
  const log: string[] = []
  const noted = (level: string) => (message: string, fields?: Record<string, unknown>) =>
    void log.push(`${level} ${message}: ${String(fields?.['server'])} ${String(fields?.['problem'])}`)
  const seen = {
    servers: new Map<string, StoreServer | null>([['a:6379', infoWith(...first)]]),
    isAway: false,
    isOpen: Promise.resolve(),
  }
  const watch = new ServerWatch({
    read: async () => {
      await seen.isOpen
      if (seen.isAway) throw new Error('away')
      return seen.servers
    },
    accepted: new Set(accepted),
    clock,
    logger: { ...quietLogger, error: noted('error'), info: noted('info') },
    metrics: createRedisMetrics(registry),
  })
  await watch.start()
  const say = (server: StoreServer | null) => seen.servers.set('a:6379', server)
  return { clock, registry, log, seen, say, watch }
}

describe('a Redis that turns unsafe while it runs', () => {
  test.each<[StoreRisk, string, string]>([
    ['eviction', 'maxmemory_policy:allkeys-lru', EVICTS],
    ['append_only_off', 'aof_enabled:0', 'Redis would lose jobs at a restart'],
    ['append_only_failing', 'aof_last_write_status:err', 'Redis cannot write its AOF'],
    ['append_only_failing', 'aof_last_bgrewrite_status:err', 'Redis cannot write its AOF'],
    ['snapshot_failing', 'rdb_last_bgsave_status:err', 'Redis cannot write its snapshot'],
  ])('is told of within a minute: %s by %s', async (risk, field, sentence) => {
    const { clock, registry, log, say, watch } = await openWatch()
    let changes = 0
    watch.onChange(() => (changes += 1))
    expect([log, watch.risks()]).toEqual([[], []])
    say(infoWith(field))
    await clock.advance(59_000)
    expect(log).toEqual([expect.stringContaining(`error Redis puts jobs at risk: a:6379 ${sentence}`)])
    expect(watch.risks()).toEqual([expect.stringContaining(sentence)])
    expect(await registry.metrics()).toContain(`punctual_redis_risks{risk="${risk}"} 1`)
    await clock.advance(300_000)
    expect(log).toHaveLength(1)
    say(infoWith())
    await clock.advance(59_000)
    expect(log.slice(1)).toEqual([expect.stringContaining('info Redis no longer puts jobs at risk: a:6379')])
    expect(await registry.metrics()).toContain(`punctual_redis_risks{risk="${risk}"} 0`)
    expect([watch.risks(), changes]).toEqual([[], 2])
  })

  test('has not become safe because it does not answer', async () => {
    const { clock, seen, say, watch, log } = await openWatch()
    say(infoWith('maxmemory_policy:allkeys-lru'))
    await clock.advance(20_000)
    seen.isAway = true
    await clock.advance(60_000)
    seen.isAway = false
    say(null)
    await clock.advance(20_000)
    expect(watch.risks()).toHaveLength(1)
    expect(log).toHaveLength(1)
  })

  test('counts by its server, and one that has left is forgotten', async () => {
    const { clock, seen, registry, watch } = await openWatch()
    const other = { ...infoWith('aof_enabled:0'), name: 'b:6379' }
    seen.servers.set('b:6379', other)
    seen.servers.set('a:6379', infoWith('aof_enabled:0'))
    await clock.advance(20_000)
    expect(await registry.metrics()).toContain('punctual_redis_risks{risk="append_only_off"} 2')
    expect(watch.risks()).toHaveLength(1)
    seen.servers = new Map([['b:6379', other]])
    await clock.advance(20_000)
    const body = await registry.metrics()
    expect(body).toContain('punctual_redis_risks{risk="append_only_off"} 1')
    expect(body).not.toContain('a:6379')
  })

  test('is taken as it is where that was asked for, unless it fails', async () => {
    const { clock, log, say, watch } = await openWatch(['eviction', 'append_only_off'])
    say(infoWith('maxmemory_policy:allkeys-lru', 'aof_enabled:0', 'aof_last_write_status:err'))
    await clock.advance(20_000)
    expect(watch.risks()).toEqual([expect.stringContaining('cannot write its AOF')])
    expect(log).toHaveLength(1)
  })

  test('is looked at no more once the watch has stopped', async () => {
    const { clock, say, watch, log } = await openWatch()
    watch.stop()
    say(infoWith('aof_enabled:0'))
    await clock.advance(60_000)
    expect([log, clock.timers]).toEqual([[], 0])
  })

  test('is told of no more by a look that ends after the stop', async () => {
    const { clock, seen, say, watch, log } = await openWatch()
    const { promise, resolve } = Promise.withResolvers<void>()
    seen.isOpen = promise
    say(infoWith('aof_enabled:0'))
    await clock.advance(20_000)
    watch.stop()
    resolve()
    await clock.advance(60_000)
    expect([log, clock.timers]).toEqual([[], 0])
  })
})

test('what a server says becomes series, and what it does not say has none', async () => {
  const { clock, registry, say } = await openWatch([], ['evicted_keys:3'])
  const first = await registry.metrics()
  for (const line of [
    'punctual_redis_memory_used_bytes{server="a:6379"} 900',
    'punctual_redis_memory_max_bytes{server="a:6379"} 2000',
    'punctual_redis_aof_enabled{server="a:6379"} 1',
    'punctual_redis_aof_last_write_ok{server="a:6379"} 1',
    'punctual_redis_last_save_timestamp_seconds{server="a:6379"} 1796000000',
    'punctual_redis_evicted_keys_total{server="a:6379"} 0',
  ])
    expect(first).toContain(line)
  say(infoWith('evicted_keys:8', 'aof_last_write_status:err'))
  await clock.advance(20_000)
  say(infoWith('evicted_keys:2', 'aof_last_write_status:err'))
  await clock.advance(20_000)
  const later = await registry.metrics()
  // It was started anew between two looks.
  expect(later).toContain('punctual_redis_evicted_keys_total{server="a:6379"} 7')
  expect(later).toContain('punctual_redis_aof_last_write_ok{server="a:6379"} 0')
  say(serverOf('a:6379', fieldsOf('used_memory:1\r\n')))
  await clock.advance(20_000)
  const last = await registry.metrics()
  expect(last).not.toContain('punctual_redis_aof_enabled{')
  expect(last).not.toContain('punctual_redis_last_save_timestamp_seconds{')
  expect(last).not.toMatch(/^punctual_redis_risks.* [^0]$/m)
  expect(last.match(/^punctual_redis_risks.* 0$/gm)).toHaveLength(4)
})
