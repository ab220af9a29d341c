import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { createLiveReader } from '../../../../src/redis/watch/live/live-reader.ts'
import { createMinuteRound } from '../../../../src/redis/watch/minute-round.ts'
import { NO_WINDOWS } from '../../../../src/ports/windows.ts'
import { createQueueLists } from '../../../../src/redis/watch/queue-lists/queue-lists.ts'
import { createStatisticsReader } from '../../../../src/redis/watch/statistics/statistics-reader.ts'
import type { StepName } from '../../../../src/redis/steps.ts'
import { claimed, ended, openExecutor, pushAll } from '../../../support/engine/model-executor.ts'
import { createWaitExplainer } from '../../../../src/redis/watch/wait-explainer.ts'
import type { Scene } from '../../cluster/tear-scenes.ts'

const NO_KNOWN_WINDOWS = { ofTeam: () => [] }

/** Some jobs have ended, some wait, and a minute is over. */
const kept: Scene = async ({ world, intake, accepted }) => {
  accepted.push(...(await pushAll(intake, 4)))
  const source = await openExecutor(world, 'e1')
  const works = await claimed(source, 2)
  await source.finish(works.map((work) => ended(world, work)))
  const keep = createMinuteRound(world.engine, shardKeys(world.engine, 0))
  await keep()
  await source.finish((await claimed(source, 1)).map((work) => ended(world, work)))
  return () => {
    // Each count has a minute of its own.
    world.clock.advance(120_000)
    return createMinuteRound(world.engine, shardKeys(world.engine, 0))()
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
  [
    'read_hours',
    'queues by trouble',
    async (stage) => {
      await kept(stage)
      // What was read lately is not read again.
      const query = { team: 'default', text: null, sort: 'trouble', limit: 10, cursor: null } as const
      return () => createQueueLists(stage.world.engine, NO_WINDOWS).list({ ...query, may: () => true })
    },
  ],
  ['take_lock', 'a count of queues', kept],
  [
    'read_live',
    'a team with ready jobs',
    async ({ world, intake, accepted }) => {
      accepted.push(...(await pushAll(intake, 2)))
      const reader = createLiveReader(world.engine)
      const [before = null] = await reader.read([{ team: 'default', before: null }])
      return () => reader.read([{ team: 'default', before }])
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
