import { searchHistory } from '../../../../src/redis/jobs/history/search/search-history.ts'
import { endedPlaces } from '../../../../src/redis/jobs/search/newest/ended-places.ts'
import { readEndedRows } from '../../../../src/redis/jobs/search/newest/ended-rows.ts'
import { sealHistory } from '../../../../src/redis/jobs/history/sealer.ts'
import { knownQueue, type KnownQueue } from '../../../../src/redis/base/names/known-queue.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import type { StepName } from '../../../../src/redis/steps.ts'
import { claimed, ended, openExecutor, pushAll } from '../../../support/engine/model-executor.ts'
import type { Scene, Stage } from '../../cluster/tear-scenes.ts'
import { NO_FILTER } from './history-stage.ts'

/** Ends as many jobs as one block takes. */
async function endBlock({ world, intake, accepted }: Stage): Promise<KnownQueue> {
  const source = await openExecutor(world, 'e1')
  // The executor seals by itself, at a moment of its own: here it fails, and leaves it to the scene.
  const { promise: failed, resolve } = Promise.withResolvers<void>()
  world.faults.before = ({ name }) => {
    if (name !== 'seal') return
    resolve()
    throw new Error('left to the scene')
  }
  for (let page = 0; page < 4; page += 1) {
    await pushAll(intake, 64)
    await source.finish((await claimed(source, 64)).map((work) => ended(world, work)))
  }
  await failed
  world.faults.before = () => undefined
  accepted.length = 0
  return (await knownQueue(world.engine, shardKeys(world.engine, 0), '1')) as KnownQueue
}

export const HISTORY_SCENES: ReadonlyArray<readonly [StepName, string, Scene]> = [
  [
    'seal',
    'a history of one block',
    async (stage) => {
      const { keys, localId } = await endBlock(stage)
      return () => sealHistory(stage.world.engine, keys, localId)
    },
  ],
  [
    'newest_ends',
    'a list by time over a history',
    async (stage) => {
      const queue = await endBlock(stage)
      const { engine } = stage.world
      return () =>
        endedPlaces(engine, [{ queue, atMs: engine.runner.redisNowMs(0) }], {
          order: 'newest',
          inTurn: (lot) => lot(),
        })
    },
  ],
  [
    'read_ended',
    'a page of a list by time',
    async (stage) => {
      const queue = await endBlock(stage)
      const asked = [{ queue, ordinal: 200, count: 20 }]
      const bounds = {
        filter: NO_FILTER,
        order: 'newest' as const,
        untilMs: null,
        inTurn: <T>(lot: () => Promise<T>) => lot(),
      }
      return () => readEndedRows(stage.world.engine, asked, bounds)
    },
  ],
  ...(['read_history', 'match_blocks'] as const).map((name): readonly [StepName, string, Scene] => [
    name,
    'a search in a sealed history',
    async (stage) => {
      const queue = await endBlock(stage)
      const { engine } = stage.world
      await sealHistory(engine, queue.keys, queue.localId)
      const filter = { ...NO_FILTER, host: 'target.test' }
      return () => searchHistory(engine, queue, filter, null, { limit: 10, examinedMax: 1000 })
    },
  ]),
]
