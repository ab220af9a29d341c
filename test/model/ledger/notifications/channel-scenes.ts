import type { Scene } from '../../cluster/tear-scenes.ts'
import type { StepName } from '../../../../src/redis/steps.ts'
import { NotifierStage, TEAM } from './notifier-stage.ts'

export const CHANNEL_SCENES: ReadonlyArray<readonly [StepName, string, Scene]> = [
  [
    'mark_channels',
    'a failure that is forwarded',
    async ({ world }) => {
      const stage = new NotifierStage(world)
      await stage.prepare()
      await stage.fail(1)
      return () => stage.board.forward({ shard: 0, team: TEAM }, ['ops'])
    },
  ],
  [
    'clear_notice',
    'a failure that is forwarded',
    async ({ world }) => {
      const stage = new NotifierStage(world)
      await stage.prepare()
      await stage.fail(1)
      return () => stage.board.forward({ shard: 0, team: TEAM }, ['ops'])
    },
  ],
  [
    'set_channel',
    'a message that is sent',
    async ({ world }) => {
      const stage = new NotifierStage(world)
      await stage.prepare()
      await stage.fail(1)
      await stage.board.forward({ shard: 0, team: TEAM }, ['ops'])
      return () => stage.tend()
    },
  ],
  [
    'set_channel',
    'a channel that is gone',
    async ({ world }) => {
      const stage = new NotifierStage(world)
      await stage.prepare()
      return () => stage.board.prepare(TEAM, { version: 2, channels: [] })
    },
  ],
]
