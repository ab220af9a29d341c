import assert from 'node:assert/strict'
import type { DueCron } from '../../../src/ports/crons.ts'
import { createCronSource } from '../../../src/redis/crons/tick/cron-source.ts'
import { createCronStore } from '../../../src/redis/crons/cron-store.ts'
import { shardOfQueue, type Engine } from '../../../src/redis/base/engine/engine.ts'
import type { StepName } from '../../../src/redis/steps.ts'
import { cronSettings } from '../../support/engine/cron-settings.ts'
import { claimed, ended, openExecutor } from '../../support/engine/model-executor.ts'
import type { World } from '../../support/engine/model-world.ts'
import { tickAll } from '../../support/engine/tick-all.ts'
import type { Scene, Stage } from '../cluster/tear-scenes.ts'

const MINUTE_MS = 60_000
const LARGE = 'x'.repeat(5_000)

/** Steps that only a move from one shard to another sends. */
export const CRON_SHARDS: Readonly<Partial<Record<StepName, number>>> = {
  place_cron: 2,
  retire_cron: 2,
  drop_cron: 2,
}

export const CRON_SCENES: ReadonlyArray<readonly [StepName, string, Scene]> = [
  [
    'reserve_cron',
    'a first cron',
    async ({ world }) =>
      () =>
        apply(world, 'first'),
  ],
  [
    'set_cron',
    'a first cron',
    async ({ world }) =>
      () =>
        apply(world, 'first'),
  ],
  [
    'set_cron',
    'a pause',
    async ({ world }) => {
      await apply(world, 'first')
      return () => apply(world, 'first', { isActive: false })
    },
  ],
  [
    'set_cron',
    'a pause of a cron that is due',
    async ({ world }) => {
      await apply(world, 'first')
      world.clock.advance(MINUTE_MS)
      return () => apply(world, 'first', { isActive: false })
    },
  ],
  ['tick', 'hidden queues and one with a name, a plain tick, one that was missed', tickScene],
  ['finish', 'a run of a cron', finishScene],
  [
    'read_crons',
    'a cron with runs',
    async (stage) => {
      await (
        await finishScene(stage)
      )()
      const store = createCronStore(stage.world.engine)
      return () => store.list({ team: 'default', limit: 10, cursor: null })
    },
  ],
  [
    'remove_cron',
    'a cron with runs',
    async (stage) => {
      await (
        await finishScene(stage)
      )()
      return () => createCronStore(stage.world.engine).remove('default', 'first')
    },
  ],
  [
    'tick',
    'a cron that is put off beside one that runs',
    async (stage) => {
      const { source, crons } = await dueScene(stage)
      const deferredToMs = stage.world.clock.wallMs + 10_000
      return () =>
        tickAll(
          source,
          crons.map((cron, i) =>
            i === 0 ? { cron, run: [], missed: null, nextMs: cron.expectedMs, deferredToMs } : due(cron),
          ),
        )
    },
  ],
  ...(['place_cron', 'retire_cron', 'drop_cron'] as const).map((name): [StepName, string, Scene] => [
    name,
    'a cron that moves',
    async ({ world }) => {
      await apply(world, 'first')
      return () => apply(world, 'first', { queue: queueElsewhere(world.engine, 'first') })
    },
  ]),
]

/** A queue that lives in another shard than the home of this cron. */
export function queueElsewhere(engine: Engine, name: string): string {
  const home = shardOfQueue(engine, 'default', name)
  for (let i = 0; ; i += 1) if (shardOfQueue(engine, 'default', `queue-${i}`) !== home) return `queue-${i}`
}

function apply(world: World, name: string, change: Parameters<typeof cronSettings>[0] = {}) {
  return createCronStore(world.engine).apply('default', name, cronSettings(change))
}

/** As the ticker decides while nothing was missed. */
function due(cron: DueCron) {
  const { expectedMs } = cron
  return { cron, run: [expectedMs], missed: null, nextMs: expectedMs + MINUTE_MS }
}

/** The third has ticked before: its tick is plain. */
async function dueScene({ world }: Stage) {
  const source = createCronSource(world.engine, 0)
  await apply(world, 'third')
  world.clock.advance(MINUTE_MS)
  await tickAll(source, (await source.due(0)).map(due))
  await apply(world, 'first', { payload: LARGE })
  await apply(world, 'second', { queue: 'emails' })
  world.clock.advance(MINUTE_MS)
  await openExecutor(world, 'e1')
  const crons = await source.due(0)
  assert.equal(crons.length, 3)
  return { source, crons }
}

async function tickScene(stage: Stage): Promise<() => Promise<unknown>> {
  const { source, crons } = await dueScene(stage)
  const missed = { firstMs: 1, lastMs: 1, count: 1 }
  return () =>
    tickAll(
      source,
      crons.map((cron) => ({ ...due(cron), missed: cron.settings.payload === LARGE ? missed : null })),
    )
}

async function finishScene(stage: Stage): Promise<() => Promise<unknown>> {
  await (
    await tickScene(stage)
  )()
  const source = await openExecutor(stage.world, 'e2')
  const works = await claimed(source, 4)
  assert.equal(works.length, 4)
  const ends = works.map((work, i) => ended(stage.world, work, { failed: i === 1 }))
  return () => source.finish(ends)
}
