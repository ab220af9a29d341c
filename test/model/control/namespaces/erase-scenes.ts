import { createSettingsCompiler } from '../../../../src/redis/control/compiler/settings-compiler.ts'
import { FORGET_TEAM } from '../../../../src/redis/control/namespaces/erase-team.ts'
import type { StepName } from '../../../../src/redis/steps.ts'
import type { World } from '../../../support/engine/model-world.ts'
import { BulkStage } from '../../jobs/bulk/bulk-stage.ts'
import type { Scene } from '../../cluster/tear-scenes.ts'
import { NotifierStage } from '../../ledger/notifications/notifier-stage.ts'

export const NAMESPACE_SCENES: ReadonlyArray<readonly [StepName, string, Scene]> = [
  [
    FORGET_TEAM.name,
    'a team with a bulk, alerts and a channel that is told',
    async ({ world }) => {
      await furnish(world)
      return () => eraseAll(world, 'default')
    },
  ],
]

/** Gives the team of the stages something of everything; one message is on its way, and a bulk waits. */
export async function furnish(world: World): Promise<void> {
  const notifier = new NotifierStage(world)
  await notifier.prepare()
  await notifier.fail(3)
  await notifier.board.forward({ shard: 0, team: 'default' }, ['ops'])
  const bulks = new BulkStage(world)
  const dead = await bulks.deadLetters(2)
  await bulks.push(3)
  await bulks.create('purge', dead)
}

/** As a leader does, page by page. @returns how many queues and crons there were */
export async function eraseAll(world: World, team: string): Promise<number> {
  const compiler = createSettingsCompiler({ engine: world.engine, box: null, epoch: null })
  let removed = 0
  for (let pages = 0; pages < 100; pages += 1) {
    const page = await compiler.eraseTeam(team)
    if (page.status === 'superseded') throw new Error('there is no other leader')
    removed += page.removed
    if (page.status === 'erased') return removed
  }
  throw new Error('it does not end')
}
