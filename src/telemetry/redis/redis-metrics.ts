import type { Registry } from 'prom-client'
import { STORE_RISKS } from '../../ports/health.ts'
import type { RedisMetrics } from '../../ports/metrics.ts'
import { Series } from '../series.ts'

/** The series of roles that look at the Redis servers. What a server does not say has no sample. */
export function createRedisMetrics(registry: Registry): RedisMetrics {
  const series = new Series(registry)
  const gauge = (name: string, help: string) => series.gauge(name, help, 'server')
  const used = gauge(
    'punctual_redis_memory_used_bytes',
    'Memory of a Redis server that counts against its maxmemory.',
  )
  const max = gauge('punctual_redis_memory_max_bytes', 'Its maxmemory; 0 = no limit.')
  const appendOnly = gauge('punctual_redis_aof_enabled', '1 while it writes an append-only file.')
  const written = gauge('punctual_redis_aof_last_write_ok', '1 if its last write to that file succeeded.')
  const saved = gauge('punctual_redis_last_save_timestamp_seconds', 'When its last snapshot was complete.')
  const evicted = series.counter(
    'punctual_redis_evicted_keys_total',
    'Keys that it has evicted since this process looked first.',
    'server',
  )
  const risks = series.gauge(
    'punctual_redis_risks',
    'Servers that put jobs at risk, at the last look.',
    'risk',
  )
  for (const risk of STORE_RISKS) risks.set({ risk }, 0)
  /** Keys that each server had evicted when it was last read. */
  let evictedBefore = new Map<string, number>()
  return {
    serversSeen: (servers) => {
      for (const one of [used, max, appendOnly, written, saved]) one.reset()
      for (const { name: server, ...seen } of servers) {
        used.set({ server }, seen.usedBytes)
        max.set({ server }, seen.maxBytes)
        if (seen.isAppendOnly !== null) appendOnly.set({ server }, Number(seen.isAppendOnly))
        if (seen.isAppendOnlyWritten !== null) written.set({ server }, Number(seen.isAppendOnlyWritten))
        if (seen.savedAtSeconds !== null) saved.set({ server }, seen.savedAtSeconds)
        evicted.inc({ server }, newlyEvicted(seen.evictedKeys, evictedBefore.get(server)))
      }
      for (const server of evictedBefore.keys())
        if (!servers.some(({ name }) => name === server)) evicted.remove({ server })
      evictedBefore = new Map(servers.map(({ name, evictedKeys }) => [name, evictedKeys]))
      for (const risk of STORE_RISKS) {
        const atRisk = servers.filter((server) => server.risks.some((found) => found.risk === risk))
        risks.set({ risk }, atRisk.length)
      }
    },
  }
}

/** A server that was restarted counts from 0. @param before undefined = it is new */
function newlyEvicted(now: number, before: number | undefined): number {
  if (before === undefined) return 0
  return now < before ? now : now - before
}
