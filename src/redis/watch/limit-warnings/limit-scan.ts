import { crc32 } from 'node:zlib'
import { GROWING_WITHIN_MS } from '../../../domain/alerts/limit-rules.ts'
import { isOutage } from '../../../domain/errors.ts'
import { SetAside } from '../../../domain/set-aside.ts'
import type { Engine } from '../../base/engine/engine.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import type { QueueParts } from '../../jobs/queues/queue-parts.ts'
import { findCandidates } from './candidates.ts'
import { isScanDue, lastScan, takeScan } from './scan-position.ts'
import { SCANNED_PARTS, scanQueues } from './queue-scan.ts'
import { scanTeams, type LimitScanOptions } from './team-scan.ts'
import { nextOf } from './next-of.ts'

/** One scan takes at most this many teams; the next scan goes on behind them. */
const SCANNED_TEAMS_MAX = 250
/** At most this many pages of a shard's teams are known. */
const KNOWN_TEAMS_PAGES_MAX = 20
const KNOWN_TEAMS_PAGE = 500

/** The scan of one minute, which reads the queues along with those who count them. */
export interface LimitScan {
  /** The queues whose warnings may change. */
  readonly localIds: ReadonlySet<string>
  /** The parts of each queue that the scan has to know. */
  readonly asked: typeof SCANNED_PARTS
  /** Raises and clears the warnings of those queues that are among its own. */
  scanQueues(read: readonly QueueParts[]): Promise<void>
  /** Raises and clears the warnings of the teams at home in the shard. */
  scanTeams(): Promise<void>
}

/**
 * Answers a function that begins the scan of a minute, and answers null when an executor of the version before has done
 * it. A later scan raises and clears what an executor that died has not.
 */
export function createLimitScanner(
  engine: Engine,
  keys: ShardKeys,
  options: LimitScanOptions,
): (minute: number, occupied: ReadonlySet<number>) => Promise<LimitScan | null> {
  const setAside = new SetAside('limit_warning', engine)
  /** A defect of ours stops a part of the scan, and not the count of the queues. */
  const part = async <T>(name: string, run: () => Promise<T>): Promise<T | null> => {
    try {
      return await run()
    } catch (error) {
      if (isOutage(error)) throw error
      setAside.note({ shard: keys.shard, part: name }, error)
      return null
    }
  }
  const begin = async (minute: number, occupied: ReadonlySet<number>): Promise<LimitScan | null> => {
    const last = await lastScan(engine, keys)
    if (!isScanDue(last, minute)) return null
    const candidates = await findCandidates(engine, keys, { position: last.position, occupied })
    const known = await teamsAtHome(engine, keys)
    const teams = nextOf(known, last.position.team, SCANNED_TEAMS_MAX)
    const position = { ...candidates.position, team: teams.at(-1) ?? '' }
    const forgetBeforeMs = engine.runner.redisNowMs(keys.shard) - GROWING_WITHIN_MS
    if (!(await takeScan(engine, keys, { last, minute, position, forgetBeforeMs }))) return null
    const localIds = new Set(candidates.localIds)
    const { windows } = options
    return {
      localIds,
      asked: SCANNED_PARTS,
      scanQueues: async (read) => {
        const own = read.filter(({ localId }) => localIds.has(localId))
        await part('queues', () => scanQueues(engine, keys, { read: own, windows, setAside }))
      },
      scanTeams: async () => {
        const scanned = new Set([...teams, ...candidates.warnedTeams])
        await part('teams', () => scanTeams(engine, keys, { ...options, teams: [...scanned], setAside }))
      },
    }
  }
  return (minute, occupied) => part('begin', () => begin(minute, occupied))
}

/** Lists the teams that ever had a queue in the shard. */
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
