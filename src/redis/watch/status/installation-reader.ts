import { StoreUnavailableError } from '../../../domain/errors.ts'
import type { StoreServer } from '../../../ports/health.ts'
import type { InstallationReader } from '../../../ports/live/status.ts'
import type { BacklogReader } from '../../../ports/queues.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { readExecutors } from './executors-reader.ts'

/** What is due within this time counts as due soon, as it does for scaling. */
const DUE_SOON_MS = 20_000

export interface InstallationParts {
  readonly backlog: BacklogReader
  /** Calls that a team may have in flight; null = unlimited. */
  readonly callQuotaOf: (team: string) => number | null
  /** Looks at each primary; null = it does not answer. */
  readonly readServers: () => Promise<ReadonlyMap<string, StoreServer | null>>
}

export function createInstallationReader(engine: Engine, parts: InstallationParts): InstallationReader {
  return {
    read: async () => {
      const [servers, executors, backlog, leaderEpoch] = await Promise.all([
        parts.readServers(),
        ifAnswered(readExecutors(engine)),
        ifAnswered(parts.backlog.read(DUE_SOON_MS, parts.callQuotaOf)),
        ifAnswered(readLeaderEpoch(engine)),
      ])
      return { shards: engine.shards.length, leaderEpoch, executors, backlog, servers }
    },
  }
}

/** The epoch that every shard knows; null = none has begun in each of them. */
async function readLeaderEpoch({ runner, shards }: Engine): Promise<number | null> {
  const epochs = await runner.read((redis) => Promise.all(shards.map((keys) => redis.get(keys.leaderEpoch))))
  return epochs.includes(null) ? null : Math.min(...epochs.map(Number))
}

/** A shard that does not answer takes no other part of the answer with it. */
async function ifAnswered<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof StoreUnavailableError) return null
    throw error
  }
}
