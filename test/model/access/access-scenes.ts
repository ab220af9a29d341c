import { takeRate } from '../../../src/redis/access/take-rate.ts'
import type { StepName } from '../../../src/redis/steps.ts'
import type { Scene } from '../cluster/tear-scenes.ts'

/** The steps of tokens. */
export const ACCESS_SCENES: ReadonlyArray<readonly [StepName, string, Scene]> = [
  [
    'take_rate',
    'a token that has used some of its rate',
    async ({ world }) => {
      const wanted = { requestsPerSecond: 1, burst: 10, wanted: 2 }
      const token = { team: 'default', name: 'ci' }
      await takeRate(world.engine, token, wanted)
      return () => takeRate(world.engine, token, wanted)
    },
  ],
]
