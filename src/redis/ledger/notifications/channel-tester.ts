import { isTestOpen, type ChannelTest } from '../../../domain/notifications/channel-state.ts'
import { CHANNEL_TEST_TIMEOUT_MS } from '../../../domain/limits.ts'
import { pause } from '../../../domain/pause.ts'
import type { ChannelRef, ChannelTester, ChannelTestResult } from '../../../ports/notifications.ts'
import type { Clock } from '../../../ports/runtime.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { readShardClock } from '../../base/engine/shard-clock.ts'
import { changeChannel, readChannel } from './channel-records.ts'
import { homeOfChannels } from './channel-steps.ts'

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
  const home = homeOfChannels(engine, team)
  const { nowMs } = await readShardClock(engine, home)
  engine.runner.noteRedisTime(home.shard, nowMs)
}

/** null = the channel is not kept, or changes all the time. */
async function ask(engine: Engine, ref: ChannelRef, id: string): Promise<ChannelTest | 'busy' | null> {
  for (let tries = 0; tries < ASK_TRIES_MAX; tries += 1) {
    const snapshot = await readChannel(engine, ref)
    if (snapshot === null) return null
    if (isTestOpen(snapshot.state.test, snapshot.nowMs)) return 'busy'
    const test = { id, askedAtMs: snapshot.nowMs, sendingUntilMs: null, result: null }
    const change = { state: { ...snapshot.state, test }, message: snapshot.message, dueMs: snapshot.nowMs }
    if (await changeChannel(engine, snapshot, change)) return test
  }
  return null
}

async function answerOf(
  engine: Engine,
  ref: ChannelRef,
  { id }: ChannelTest,
): Promise<ChannelTestResult | null> {
  const snapshot = await readChannel(engine, ref)
  if (snapshot?.state.test?.id !== id) return null
  const { result } = snapshot.state.test
  return result === null ? null : { status: 'answered', ...result }
}
