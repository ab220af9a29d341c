import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import { quotasOf } from '../../../src/domain/quotas.ts'
import { NO_TEAM_SETTINGS } from '../../../src/ports/settings.ts'
import { NO_WINDOWS } from '../../../src/ports/windows.ts'
import { shardKeys } from '../../../src/redis/client/engine.ts'
import { createLimitLook } from '../../../src/redis/limit-warnings/limit-look.ts'
import { createQueueStore } from '../../../src/redis/queues/queue-store.ts'
import type { StepName } from '../../../src/redis/steps.ts'
import { claimed, openExecutor, pushAll } from '../../support/engine/model-executor.ts'
import type { Scene } from '../cluster/tear-scenes.ts'

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
    windows: NO_WINDOWS,
  }
  return () => {
    // Each look has a minute of its own.
    world.clock.advance(60_000)
    return createLimitLook(world.engine, shardKeys(world.engine, 0), options)()
  }
}

export const LIMIT_SCENES = (['take_look', 'look_queues', 'warn'] as const).map(
  (name): readonly [StepName, string, Scene] => [name, 'a saturated queue of a team at its quota', saturated],
)
