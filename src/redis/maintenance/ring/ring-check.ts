import { PROMOTE_BATCH_MAX } from '../../../domain/limits.ts'
import type { Engine } from '../../client/engine.ts'
import { callbackQueueOf, type ShardKeys } from '../../layout/keys.ts'

/** A place in the ring can only be wrong by a defect of ours, or when Redis lost writes: it is looked for this often. */
const CHECK_EVERY_MS = 60_000
/** Bands of the ring one step goes through, and the steps of one check; the next one goes on from there. */
const BANDS_PAGE = 256
const PAGES_MAX = 16

/** Looks at a few queues, and at the teams of many bands, whenever it is time. */
export function createRingCheck(engine: Engine, keys: ShardKeys): () => Promise<void> {
  let dueMs = 0
  /** Number of the team below which the next check goes on; '' = from the last band. */
  let below = ''
  return async () => {
    const nowMs = engine.runner.redisNowMs(keys.shard)
    if (nowMs < dueMs) return
    await checkSomeQueues(engine, keys)
    below = await checkTeams(engine, keys, below)
    dueMs = nowMs + CHECK_EVERY_MS
  }
}

/** One queue, one cron's hidden queue and one team's callback queue, drawn by chance. */
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

/** Is the queue in the ring exactly when it may run? */
async function checkInRing(engine: Engine, keys: ShardKeys, id: string): Promise<void> {
  const { meta: q, ready: r, inFlight: a } = keys.queue(id)
  const mended = await engine.runner.run({
    name: 'check_ring',
    keys: [keys.ring, q, r, a, keys.teams],
    args: [id],
  })
  if (mended !== 1) return
  engine.logger.error('A queue was not where it belongs in the ring; mended', {
    shard: keys.shard,
    queue: id,
  })
}

/** A team that `teams` lacks is never asked, and a band that has come far is lowered. Answers where to go on. */
async function checkTeams(engine: Engine, keys: ShardKeys, from: string): Promise<string> {
  let [below, mended] = [from, 0]
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const reply = await engine.runner.run({
      name: 'check_teams',
      keys: [keys.ring, keys.teams],
      args: [below, BANDS_PAGE, PROMOTE_BATCH_MAX],
    })
    const [joined, , next] = reply as [number, number, string]
    mended += joined
    below = next
    if (below === '') break
  }
  if (mended > 0) {
    engine.logger.error('Teams with jobs to start were missing among those who are asked; mended', {
      shard: keys.shard,
      teams: mended,
    })
  }
  return below
}
