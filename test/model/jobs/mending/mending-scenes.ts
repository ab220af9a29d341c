import assert from 'node:assert/strict'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import type { StepName } from '../../../../src/redis/steps.ts'
import { claimed, ended, openExecutor, pushAll } from '../../../support/engine/model-executor.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { Scene, Stage } from '../../cluster/tear-scenes.ts'

/** Chains that ended without retries. */
export async function makeFailed(
  { world, intake, accepted }: Pick<Stage, 'world' | 'intake' | 'accepted'>,
  count: number,
): Promise<number[]> {
  const ids = await pushAll(intake, count, { request: { retriesEnabled: false } })
  accepted.push(...ids)
  const source = await openExecutor(world, 'failing')
  const works = await claimed(source, count)
  assert.equal(works.length, count)
  await source.finish(works.map((work) => ended(world, work, { failed: true })))
  return ids
}

/** Of all that makes new jobs, only this cannot make two. */
export const ONE_FAILED = 'a failed chain'

export const MENDING_SCENES: ReadonlyArray<readonly [StepName, string, Scene]> = [
  ...(['near', 'minute'] as const).map((place): readonly [StepName, string, Scene] => [
    'open_page',
    `a job that is ${place} and fired`,
    async (stage) => {
      const start = { delaySeconds: { near: 30, minute: 500 }[place] }
      stage.accepted.push(...(await pushAll(stage.intake, 2, { start })))
      const fired = stage.accepted[0] as number
      return () => createJobStore(stage.world.engine).fire('default', fired, AN_ACTOR)
    },
  ]),
  [
    'remake_page',
    ONE_FAILED,
    async (stage) => {
      const [failed] = await makeFailed(stage, 1)
      const store = createJobStore(stage.world.engine)
      return () => store.retry('default', failed as number, AN_ACTOR)
    },
  ],
]
