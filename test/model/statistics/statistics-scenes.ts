import { shardKeys } from '../../../src/redis/client/engine.ts'
import { createLiveReader } from '../../../src/redis/live/live-reader.ts'
import { createStatistician } from '../../../src/redis/statistics/statistician.ts'
import { createStatisticsReader } from '../../../src/redis/statistics/statistics-reader.ts'
import type { StepName } from '../../../src/redis/steps.ts'
import { claimed, ended, openExecutor, pushAll } from '../../support/engine/model-executor.ts'
import { createWaitExplainer } from '../../../src/redis/waiting/wait-explainer.ts'
import type { Scene } from '../cluster/tear-scenes.ts'

const NO_KNOWN_WINDOWS = { ofTeam: () => [] }

/** Some jobs have ended, some wait, and a minute is over. */
const kept: Scene = async ({ world, intake, accepted }) => {
  accepted.push(...(await pushAll(intake, 4)))
  const source = await openExecutor(world, 'e1')
  const works = await claimed(source, 2)
  await source.finish(works.map((work) => ended(world, work)))
  const keep = createStatistician(world.engine, shardKeys(world.engine, 0))
  await keep()
  await source.finish((await claimed(source, 1)).map((work) => ended(world, work)))
  return () => {
    // Each count has a minute of its own.
    world.clock.advance(120_000)
    return createStatistician(world.engine, shardKeys(world.engine, 0))()
  }
}

export const STATISTICS_SCENES: ReadonlyArray<readonly [StepName, string, Scene]> = [
  [
    'explain',
    'a job behind another one',
    async ({ world, intake, accepted }) => {
      accepted.push(...(await pushAll(intake, 2)))
      const explainer = createWaitExplainer(world.engine, {
        windows: NO_KNOWN_WINDOWS,
        callQuotaOf: () => null,
      })
      return () => explainer.explain('default', accepted[1] as number)
    },
  ],
  ['fold', 'a log, and minutes that are over', kept],
  ['sample_queues', 'a queue with ready jobs', kept],
  [
    'read_live',
    'a team with ready jobs',
    async ({ world, intake, accepted }) => {
      accepted.push(...(await pushAll(intake, 2)))
      const reader = createLiveReader(world.engine)
      const [before = null] = await reader.look([{ team: 'default', before: null }])
      return () => reader.look([{ team: 'default', before }])
    },
  ],
  [
    'read_tallies',
    'statistics of a team',
    async (stage) => {
      await kept(stage)
      return () => createStatisticsReader(stage.world.engine).ofTeam('default', 0)
    },
  ],
]
