import { PROMOTE_BATCH_MAX } from '../../../domain/limits.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import { callbackQueueOf, type ShardKeys } from '../../base/layout/keys.ts'

export const CHECK_RING = step('check_ring', import.meta.url, {
  keys: ['ring', 'teams', 'nearSet'],
  queueKeys: ['meta', 'ready', 'inFlight'],
  args: ['localId'],
})
export const CHECK_TEAMS = step('check_teams', import.meta.url, {
  keys: ['ring', 'teams'],
  args: ['below', 'bandsMax', 'queuesMax'],
})

/** A check now and then is enough: only a defect of ours, or a Redis that lost writes, can make the ring wrong. */
const CHECK_EVERY_MS = 60_000
/** Bands that one step goes through, and steps of one check; the next check continues from there. */
const BANDS_PAGE = 256
const PAGES_MAX = 16

/** Checks a few queues and many bands; between checks a call does nothing. */
export function createRingCheck(engine: Engine, keys: ShardKeys): () => Promise<void> {
  let dueMs = 0
  /** Number of the team below which the next check continues; '' = from the last band. */
  let below = ''
  return async () => {
    const nowMs = engine.runner.redisNowMs(keys.shard)
    if (nowMs < dueMs) return
    await checkSomeQueues(engine, keys)
    below = await checkTeams(engine, keys, below)
    dueMs = nowMs + CHECK_EVERY_MS
  }
}

/** A random queue, a random cron's hidden queue and a random team's callback queue. */
async function checkSomeQueues(engine: Engine, keys: ShardKeys): Promise<void> {
  const draw = async (key: string): Promise<string | undefined> => {
    const found = await engine.runner.read((redis) => redis.hrandfield(key, 1, 'WITHVALUES'))
    return ((found ?? []) as string[])[1]
  }
  const [queue, cron, team] = [
    await draw(keys.queueIds),
    await draw(keys.cronIds),
    await draw(keys.teamNumbers),
  ]
  if (queue !== undefined) await checkInRing(engine, keys, queue)
  if (cron !== undefined) {
    await checkInRing(engine, keys, String(Math.floor(Number(cron) / engine.shards.length)))
  }
  if (team !== undefined) await checkInRing(engine, keys, callbackQueueOf(team))
}

/** The queue must be in the ring exactly when it may run. */
async function checkInRing(engine: Engine, keys: ShardKeys, localId: string): Promise<void> {
  const repaired = await engine.runner.run(CHECK_RING.with({ keys, localId }))
  if (repaired !== 1) return
  engine.logger.error('A queue was missing from the ring or wrongly in it; repaired', {
    shard: keys.shard,
    queue: localId,
  })
}

/** Adds teams that no claim would ask, and lowers bands that have grown large. Answers where to continue. */
async function checkTeams(engine: Engine, keys: ShardKeys, from: string): Promise<string> {
  let [below, added] = [from, 0]
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const reply = await engine.runner.run(
      CHECK_TEAMS.with({ keys, below, bandsMax: BANDS_PAGE, queuesMax: PROMOTE_BATCH_MAX }),
    )
    const [joined, , next] = reply as [added: number, lowered: number, below: string]
    added += joined
    below = next
    if (below === '') break
  }
  if (added > 0) {
    engine.logger.error('Teams with runnable queues were missing from the order of teams; repaired', {
      shard: keys.shard,
      teams: added,
    })
  }
  return below
}
