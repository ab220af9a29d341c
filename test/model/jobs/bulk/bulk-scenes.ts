import type { StepName } from '../../../../src/redis/steps.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { Scene, Stage } from '../../cluster/tear-scenes.ts'
import { BulkStage, TEAM } from './bulk-stage.ts'

const LARGE = JSON.stringify('x'.repeat(5_000))

/** A stage with jobs in every state, of which `accepted` are those that no tear may lose. */
async function staged({ world, accepted }: Stage) {
  const stage = new BulkStage(world)
  const dead = await stage.deadLetters(2, { request: { payload: LARGE } })
  const [kept, ready] = await stage.push(2, { request: { payload: LARGE } })
  const [near] = await stage.push(1, { start: { delaySeconds: 30 } })
  const [far] = await stage.push(1, { start: { delaySeconds: 500 } })
  world.clock.advance(10)
  accepted.push(kept as number)
  return { stage, dead, ready: ready as number, near: near as number, far: far as number }
}

/** A stage with chains that have ended, of which those that are retried may not be lost. */
async function ended({ world, accepted }: Stage) {
  const stage = new BulkStage(world)
  const failed = await stage.finished(2, { failed: true, kept: true }, { request: { payload: LARGE } })
  const dead = await stage.deadLetters(1)
  accepted.push(...(await stage.push(1)))
  return { stage, failed, dead }
}

export const BULK_SCENES: ReadonlyArray<readonly [StepName, string, Scene]> = [
  [
    'create_bulk',
    'a bulk of two dead letters',
    async (stage) => {
      const { stage: bulks, dead } = await staged(stage)
      return () => bulks.create('purge', dead)
    },
  ],
  ...(['put_part', 'set_bulk', 'take_lock'] as const).map((name): [StepName, string, Scene] => [
    name,
    'a bulk that is worked off',
    async (stage) => {
      const { stage: bulks, dead } = await staged(stage)
      await bulks.create('purge', dead)
      return () => bulks.drive()
    },
  ]),
  [
    'resume_part',
    'a bulk that was aborted',
    async (stage) => {
      const { stage: bulks, dead } = await staged(stage)
      const { id } = await bulks.create('purge', dead)
      await bulks.begin()
      await bulks.store.abort(TEAM, id, AN_ACTOR)
      return () => bulks.store.resume(TEAM, id, AN_ACTOR)
    },
  ],
  [
    'count_outcome',
    'jobs of which some have ended',
    async (stage) => {
      const { stage: bulks, dead } = await staged(stage)
      await bulks.create('replay', dead)
      await bulks.drive()
      await bulks.failAll()
      stage.world.clock.advance(2_500)
      return () => bulks.drive()
    },
  ],
  [
    'move_part',
    'a bulk that is aborted',
    async (stage) => {
      const { stage: bulks, dead } = await staged(stage)
      const { id } = await bulks.create('purge', dead)
      await bulks.begin()
      return () => bulks.store.abort(TEAM, id, AN_ACTOR)
    },
  ],
  ...(['cancel', 'fire'] as const).map((action): [StepName, string, Scene] => [
    'open_page',
    `jobs that are ready, near and in a bucket: ${action}`,
    async (stage) => {
      const { stage: bulks, ready, near, far } = await staged(stage)
      await bulks.create(action, [ready, near, far])
      return () => bulks.drive()
    },
  ]),
  [
    'delete_page',
    'a job in each state',
    async (stage) => {
      const { stage: bulks, ready, near, dead } = await staged(stage)
      await bulks.create('delete', [ready, near, ...dead])
      return () => bulks.drive()
    },
  ],
  [
    'delete_page',
    'finished chains with call records',
    async (stage) => {
      const { stage: bulks, failed } = await ended(stage)
      await bulks.create('delete', failed)
      return () => bulks.drive()
    },
  ],
  [
    'remake_page',
    'a failed chain and a dead letter, which are retried',
    async (stage) => {
      const { stage: bulks, failed, dead } = await ended(stage)
      await bulks.create('retry', [...failed, ...dead])
      return () => bulks.drive()
    },
  ],
  [
    'purge_page',
    'two dead letters',
    async (stage) => {
      const { stage: bulks, dead } = await staged(stage)
      await bulks.create('purge', dead)
      return () => bulks.drive()
    },
  ],
  [
    'remake_page',
    'two dead letters with large requests',
    async (stage) => {
      const { stage: bulks, dead } = await staged(stage)
      await bulks.create('replay', dead)
      return () => bulks.drive()
    },
  ],
]
