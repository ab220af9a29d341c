import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { quotasOf } from '../../../../src/domain/quotas.ts'
import { NO_TEAM_SETTINGS } from '../../../../src/ports/settings.ts'
import { NO_WINDOWS } from '../../../../src/ports/windows.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { createMinuteRound } from '../../../../src/redis/watch/minute-round.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import type { StepName } from '../../../../src/redis/steps.ts'
import { claimed, openExecutor, pushAll } from '../../../support/engine/model-executor.ts'
import type { Scene } from '../../cluster/tear-scenes.ts'

const saturated: Scene = async ({ world, intake, accepted }) => {
  const settings = { ...DEFAULT_QUEUE_SETTINGS, alertsEnabled: true, maxParallelism: 1 }
  await createQueueStore(world.engine).apply('default', 'emails', settings)
  accepted.push(...(await pushAll(intake, 2)))
  await claimed(await openExecutor(world, 'e1'), 1)
  world.clock.advance(360_000)
  await openExecutor(world, 'e2')
  const options = {
    settings: { of: () => NO_TEAM_SETTINGS },
    quotas: quotasOf({ queues: 1 }),
  }
  return () => {
    // Each scan has a minute of its own.
    world.clock.advance(60_000)
    return createMinuteRound(world.engine, shardKeys(world.engine, 0), NO_WINDOWS, options)()
  }
}

export const LIMIT_SCENES = (['take_scan', 'warn'] as const).map(
  (name): readonly [StepName, string, Scene] => [name, 'a saturated queue of a team at its quota', saturated],
)
