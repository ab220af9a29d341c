import { reasonOf } from '../../../domain/errors.ts'
import { CLOCK } from '../layout/fields.ts'
import type { Engine } from './engine.ts'

/**
 * Says in each shard how far steps may hold time ahead of a clock that was set back; lib/clock.lua does it. Writes only what
 * differs. Never throws: what was said before stands.
 */
export async function setClockHold({ runner, shards, logger }: Engine, mostMs: number): Promise<void> {
  try {
    await runner.read(async (redis) => {
      for (const { clock } of shards) {
        const known = Number((await redis.hget(clock, CLOCK.holdMaxMs)) ?? 0)
        if (known !== mostMs) await redis.hset(clock, CLOCK.holdMaxMs, String(mostMs))
      }
    })
  } catch (error) {
    logger.warn('How far a clock is held could not be said', { reason: reasonOf(error) })
  }
}
