import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../../../src/domain/jobs/queue-settings.ts'
import type { WorkEnd } from '../../../../src/ports/jobs.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import type { StepName } from '../../../../src/redis/steps.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { claimed, ended, openExecutor, pushAll } from '../../../support/engine/model-executor.ts'
import type { World } from '../../../support/engine/model-world.ts'
import type { Scene, Stage } from '../../cluster/tear-scenes.ts'

const FLOW: Partial<QueueSettings> = {
  retriesEnabled: false,
  rateLimit: { limit: 100, periodSeconds: 1 },
  respectRetryAfter: true,
  circuitBreaker: { failurePercent: 50, minCalls: 1, windowSeconds: 60, openSeconds: 30 },
}

const apply = (world: World, change: Partial<QueueSettings>) =>
  createQueueStore(world.engine).apply('default', 'emails', { ...DEFAULT_QUEUE_SETTINGS, ...change })

/** Steps that keep a queue from calling its target, and let it go on. */
export const FLOW_SCENES: ReadonlyArray<readonly [StepName, string, Scene]> = [
  [
    'claim',
    'a queue with more jobs than its rate lets begin',
    async ({ world, intake, accepted }) => {
      await apply(world, FLOW)
      accepted.push(...(await pushAll(intake, 3)))
      const source = await openExecutor(world, 'e1')
      return () => claimed(source, 64)
    },
  ],
  ['finish', 'an end that opens the breaker', (stage) => endScene(stage, { failed: true })],
  [
    'finish',
    'a target that asks to be left alone',
    (stage) => endScene(stage, { failed: true, retryAfterMs: 90_000 }),
  ],
  [
    'finish',
    'a probe that succeeds',
    async (stage) => {
      await trip(stage)
      const { world } = stage
      world.clock.advance(30_000)
      const source = await openExecutor(world, 'e2')
      await createShardMaintenance(world.engine, 0).promote()
      const [probe] = await claimed(source, 64)
      return () => source.finish(probe === undefined ? [] : [ended(world, probe)])
    },
  ],
  [
    'promote',
    'a due job, and the mark of a queue whose breaker has been open long enough',
    async (stage) => {
      await trip(stage)
      stage.accepted.push(...(await pushAll(stage.intake, 1, { start: { delaySeconds: 20 } })))
      stage.world.clock.advance(30_000)
      await openExecutor(stage.world, 'e2')
      return () => createShardMaintenance(stage.world.engine, 0).promote()
    },
  ],
  [
    'unthrottle',
    'a queue whose breaker is open',
    async (stage) => {
      await trip(stage)
      const store = createQueueStore(stage.world.engine)
      const queue = await store.getByName('default', 'emails')
      return () => store.unthrottle('default', queue?.queueId ?? 0)
    },
  ],
  [
    'set_queue',
    'a throttled queue that loses its breaker',
    async (stage) => {
      await trip(stage)
      return () => apply(stage.world, { ...FLOW, circuitBreaker: null, timeoutSeconds: 5 })
    },
  ],
  [
    'delete_queue',
    'a throttled queue',
    async (stage) => {
      await trip(stage)
      stage.accepted.length = 0
      return () => createQueueStore(stage.world.engine).remove('default', 'emails')
    },
  ],
]

async function endScene(
  { world, intake, accepted }: Stage,
  { failed, retryAfterMs }: { readonly failed: boolean; readonly retryAfterMs?: number },
): Promise<() => Promise<unknown>> {
  await apply(world, FLOW)
  accepted.push(...(await pushAll(intake, 3)))
  const source = await openExecutor(world, 'e1')
  const works = await claimed(source, 64)
  const ends = works.map((work): WorkEnd => {
    const end = ended(world, work, { failed })
    return end.type === 'ended' && retryAfterMs !== undefined ? { ...end, retryAfterMs } : end
  })
  return () => source.finish(ends)
}

/** Three jobs, the first of which has opened the breaker. */
async function trip(stage: Stage): Promise<void> {
  const finish = await endScene(stage, { failed: true })
  await finish()
}
