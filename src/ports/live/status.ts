import type { StoreServer } from '../health.ts'
import type { Backlog } from '../queues.ts'

/** Executors with one name: one process, unless several on a machine have been given the same. */
export interface ExecutorStatus {
  readonly name: string
  /** Calls that it may make at once; null = an earlier version, which does not say. */
  readonly slots: number | null
  /** The shards in which it has a valid lease. */
  readonly shards: number
  /** When the first of its leases ends unless it is renewed. */
  readonly leaseEndsInMs: number
}

export interface ExecutorsStatus {
  /** Whether each shard has at least one, so that jobs of every queue can run. */
  readonly areEverywhere: boolean
  readonly alive: number
  /** null = one of them does not say. */
  readonly slots: number | null
  /** Leases that have ended and whose jobs have not been released yet. */
  readonly expiredLeases: number
  /** The first ones by name. */
  readonly executors: readonly ExecutorStatus[]
}

/** The whole installation at one moment; it names no team and no queue. null = a part of Redis does not answer. */
export interface InstallationStatus {
  readonly shards: number
  /** null also when no leader has begun yet. */
  readonly leaderEpoch: number | null
  readonly executors: ExecutorsStatus | null
  readonly backlog: Pick<Backlog, 'ready' | 'inFlight' | 'dueSoon' | 'oldestReadyMs' | 'held'> | null
  /** Primaries by their names; null = one does not answer. */
  readonly servers: ReadonlyMap<string, StoreServer | null>
}

export interface InstallationReader {
  /** A few bounded commands per shard. What cannot be read is null. */
  read(): Promise<InstallationStatus>
}
