import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { tellLoss } from '../../../../src/redis/jobs/losses/tell-loss.ts'
import type { StepName } from '../../../../src/redis/steps.ts'
import { pushOne } from '../../../support/engine/model-executor.ts'
import type { Scene } from '../../cluster/tear-scenes.ts'

export const LOSS_SCENES: ReadonlyArray<readonly [StepName, string, Scene]> = [
  [
    'tell_loss',
    'jobs of a queue that is there, and of one that is not',
    async ({ world, intake, accepted }) => {
      accepted.push(await pushOne(intake))
      const [fromMs, toMs] = [world.clock.wallMs, world.clock.wallMs]
      const queues = [
        { field: 'default/emails', localId: '1', count: 3, fromMs, toMs },
        { field: 'default/gone', localId: '2', count: 2, fromMs, toMs },
      ]
      const loss = { intake: 'lost', answered: 7, lost: { from: 0, to: 7 }, queues }
      return () => tellLoss(world.engine, shardKeys(world.engine, 0), loss)
    },
  ],
]
