import { isTestOpen, type ChannelTest } from '../../domain/notifications/channel-state.ts'
import { CHANNEL_TEST_TIMEOUT_MS } from '../../domain/limits.ts'
import { pause } from '../../domain/pause.ts'
import type { ChannelRef, ChannelTester, ChannelTestResult } from '../../ports/notifications.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { Engine } from '../client/engine.ts'
import { readShardClock } from '../client/shard-clock.ts'
import { changeChannel, readChannel } from './channel-records.ts'
import { homeOf } from './channel-steps.ts'

const POLL_MS = 250
/** A channel changes seldom. */
const ASK_TRIES_MAX = 5

export function createChannelTester(
  engine: Engine,
  { clock, newId }: { readonly clock: Pick<Clock, 'after' | 'monotonicMs'>; newId(): string },
): ChannelTester {
  return {
    requestTest: async (team, channel) => {
      const ref = { team, channel }
      const deadlineMs = clock.monotonicMs() + CHANNEL_TEST_TIMEOUT_MS
      const isLate = () => clock.monotonicMs() >= deadlineMs
      await noteTime(engine, team)
      let asked: ChannelTest | 'busy' | null = null
      // A channel that is new is not kept yet: an executor does that within a second or two.
      while ((asked = await ask(engine, ref, newId())) === null) {
        if (isLate()) return { status: 'no_executor' }
        await pause(clock, POLL_MS)
      }
      if (asked === 'busy') return { status: 'busy' }
      for (;;) {
        const answered = await answerOf(engine, ref, asked)
        if (answered !== null) return answered
        if (isLate()) return { status: 'no_executor' }
        await pause(clock, POLL_MS)
      }
    },
  }
}

/** An API learns Redis time by its pushes, and may have had none. */
async function noteTime(engine: Engine, team: string): Promise<void> {
  const home = homeOf(engine, team)
  const { nowMs } = await readShardClock(engine, home)
  engine.runner.noteRedisTime(home.shard, nowMs)
}

/** null = the channel is not kept, or changes all the time. */
async function ask(engine: Engine, ref: ChannelRef, id: string): Promise<ChannelTest | 'busy' | null> {
  for (let tries = 0; tries < ASK_TRIES_MAX; tries += 1) {
    const look = await readChannel(engine, ref)
    if (look === null) return null
    if (isTestOpen(look.state.test, look.nowMs)) return 'busy'
    const test = { id, askedAtMs: look.nowMs, sendingUntilMs: null, result: null }
    const change = { state: { ...look.state, test }, message: look.message, dueMs: look.nowMs }
    if (await changeChannel(engine, look, change)) return test
  }
  return null
}

async function answerOf(
  engine: Engine,
  ref: ChannelRef,
  { id }: ChannelTest,
): Promise<ChannelTestResult | null> {
  const look = await readChannel(engine, ref)
  if (look?.state.test?.id !== id) return null
  const { result } = look.state.test
  return result === null ? null : { status: 'answered', ...result }
}
