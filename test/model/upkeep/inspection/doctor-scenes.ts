import { READ_RING } from '../../../../src/redis/upkeep/inspection/inspect-ring.ts'
import { checkClock } from '../../../../src/redis/upkeep/checks/clock-check.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import type { StepName } from '../../../../src/redis/steps.ts'
import { systemClock } from '../../../../src/telemetry/system-clock.ts'
import { pushOne } from '../../../support/engine/model-executor.ts'
import type { Scene } from '../../cluster/tear-scenes.ts'

/** The steps of `punctual doctor`. */
export const DOCTOR_SCENES: ReadonlyArray<readonly [StepName, string, Scene]> = [
  [
    'read_ring',
    'a queue that looks wrong in the ring',
    async ({ world, intake, accepted }) => {
      accepted.push(await pushOne(intake))
      const keys = shardKeys(world.engine, 0)
      const localId = await world.connection.hget(keys.queueIds, 'default/emails')
      return () => world.engine.runner.run(READ_RING.with({ keys, localId: String(localId) }))
    },
  ],
  [
    'read_clock',
    'a check of the clocks',
    async ({ world }) =>
      () =>
        checkClock(world.engine, systemClock),
  ],
]
