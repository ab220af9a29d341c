import type { Engine } from '../client/engine.ts'
import { STATISTICS } from '../layout/fields.ts'
import type { ShardKeys } from '../layout/keys.ts'
import { changeTallies } from './tally-store.ts'

/** Longer than a count takes; when an executor dies while it counts, another begins after this. */
export const COUNT_TURN_MS = 10_000
/** Tries while others change the tallies. */
const TRIES_MAX = 5

/**
 * The right of one executor to count the queues of a shard. Without it all would, and each change of the tallies undoes
 * what the others are about to write. It only saves work: two that count at once write the same.
 *
 * @returns what takes the turn, or takes it again for the executor that has it; false = another has it
 */
export function createCountTurn(engine: Engine, keys: ShardKeys): () => Promise<boolean> {
  /** Of the turn that this executor took last. */
  let ownEndsAtMs = 0
  return async () => {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const [version, endsAt] = await engine.runner.read((redis) =>
        redis.hmget(keys.statistics, STATISTICS.version, STATISTICS.turnEndsAt),
      )
      const endsAtMs = Number(endsAt ?? 0)
      const nowMs = engine.runner.redisNowMs(keys.shard)
      // One that would end much later was taken before the clock was set back.
      const isTaken = endsAtMs > nowMs && endsAtMs <= nowMs + 2 * COUNT_TURN_MS
      if (isTaken && endsAtMs !== ownEndsAtMs) return false
      const turnEndsAtMs = nowMs + COUNT_TURN_MS
      if (await changeTallies(engine, keys, { version: version ?? '0', turnEndsAtMs })) {
        ownEndsAtMs = turnEndsAtMs
        return true
      }
    }
    return false
  }
}
