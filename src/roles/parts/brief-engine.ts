import { JobIds } from '../../domain/jobs/job-ids.ts'
import type { RedisConnection } from '../../redis/base/client/connection.ts'
import { createEngine, type Engine } from '../../redis/base/engine/engine.ts'
import { byTestClock } from '../../redis/base/installation/test-clock.ts'
import { createStepRunner } from '../../redis/base/engine/step-runner.ts'
import { loadScripts } from '../../redis/steps.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { systemClock } from '../../telemetry/system-clock.ts'

/** The engine of a role that does its work once, and says itself what came of it. */
export function openBriefEngine(
  connection: RedisConnection,
  {
    shards,
    installation,
    isForTests = false,
  }: { readonly shards: number; readonly installation: string; readonly isForTests?: boolean },
): Engine {
  const { metrics } = createMetrics({ processMetrics: false })
  const logger = createLogger({ level: 'silent', format: 'json' })
  return createEngine({
    runner: createStepRunner({
      connection,
      scripts: isForTests ? loadScripts(byTestClock) : loadScripts(),
      clock: systemClock,
      metrics,
    }),
    jobIds: new JobIds(shards, installation),
    logger,
    metrics,
  })
}
