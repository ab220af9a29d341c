import { crc32 } from 'node:zlib'
import { GROWING_WITHIN_MS } from '../../domain/alerts/limit-rules.ts'
import { SetAside } from '../../domain/set-aside.ts'
import type { Engine } from '../client/engine.ts'
import type { ShardKeys } from '../layout/keys.ts'
import { findCandidates } from './candidates.ts'
import { isLookDue, lastLook, takeLook } from './look-place.ts'
import { lookAtQueues } from './queue-look.ts'
import { lookAtTeams, type LimitLookOptions } from './team-look.ts'
import { turnOf } from './turn.ts'

const MINUTE_MS = 60_000
/** Teams of one look; the next look goes on behind them. */
const LOOKED_TEAMS_MAX = 250
/** Teams of a shard that are known at most; a page of them. */
const KNOWN_TEAMS_PAGES_MAX = 20
const KNOWN_TEAMS_PAGE = 500

/**
 * Answers the look for limit warnings of a shard. Once a minute one executor does it; the others find the minute taken.
 * Whatever an executor that dies has not raised or cleared, a later look does.
 */
export function createLimitLook(
  engine: Engine,
  keys: ShardKeys,
  options: LimitLookOptions,
): () => Promise<void> {
  /** No look is due before the next minute, by this executor's last reading. */
  let doneMinute = -1
  const setAside = new SetAside('limit_warning', engine)
  return async () => {
    const nowMs = engine.runner.redisNowMs(keys.shard)
    const minute = Math.floor(nowMs / MINUTE_MS)
    if (minute === doneMinute) return
    const last = await lastLook(engine, keys)
    doneMinute = minute
    if (!isLookDue(last, minute)) return
    const candidates = await findCandidates(engine, keys, last.place)
    const known = await teamsAtHome(engine, keys)
    const teams = turnOf(known, last.place.team, LOOKED_TEAMS_MAX)
    const place = { ...candidates.place, team: teams.at(-1) ?? '' }
    const isTaken = await takeLook(engine, keys, {
      last,
      minute,
      place,
      forgetBeforeMs: nowMs - GROWING_WITHIN_MS,
    })
    if (!isTaken) return
    await lookAtQueues(engine, keys, {
      localIds: candidates.localIds,
      windows: options.windows,
      setAside,
    })
    const looked = new Set([...teams, ...candidates.warnedTeams])
    await lookAtTeams(engine, keys, { ...options, teams: [...looked], setAside })
  }
}

/** Those that ever had a queue. */
async function teamsAtHome(engine: Engine, keys: ShardKeys): Promise<string[]> {
  const byShard = await Promise.all(engine.shards.map((shard) => knownTeams(engine, shard)))
  const { length: shards } = engine.shards
  return [...new Set(byShard.flat())].filter((team) => crc32(team) % shards === keys.shard).toSorted()
}

async function knownTeams(engine: Engine, keys: ShardKeys): Promise<string[]> {
  const teams: string[] = []
  let cursor = '0'
  for (let page = 0; page < KNOWN_TEAMS_PAGES_MAX; page += 1) {
    const [next, flat] = await engine.runner.read((redis) =>
      redis.hscan(keys.teamNumbers, cursor, 'COUNT', KNOWN_TEAMS_PAGE),
    )
    teams.push(...flat.filter((_, i) => i % 2 === 0))
    cursor = next
    if (cursor === '0') break
  }
  return teams
}
