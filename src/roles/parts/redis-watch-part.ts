import type { StoreSafety } from '../../ports/health.ts'
import { ACCEPTABLE_RISKS } from '../../redis/base/installation/installation.ts'
import { ServerWatch } from '../../redis/base/installation/server-watch.ts'
import { createRedisMetrics } from '../../telemetry/redis/redis-metrics.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import type { Lifecycle } from '../startup/lifecycle.ts'
import type { Store, StoreSettings } from './store.ts'
import type { Telemetry } from './telemetry-part.ts'

/** Looks at the Redis servers while the role runs. Executors do not: one look of an API or a controller tells of all. */
export async function watchRedis(
  { allowUnsafeRedis }: Pick<StoreSettings, 'allowUnsafeRedis'>,
  read: Store['readServers'],
  { telemetry, lifecycle }: { readonly telemetry: Telemetry; readonly lifecycle: Lifecycle },
): Promise<StoreSafety> {
  const watch = new ServerWatch({
    read,
    accepted: allowUnsafeRedis ? ACCEPTABLE_RISKS : new Set(),
    clock: systemClock,
    logger: telemetry.logger,
    metrics: createRedisMetrics(telemetry.registry),
  })
  lifecycle.onStop('watch of Redis', () => watch.stop())
  await watch.start()
  return watch
}
