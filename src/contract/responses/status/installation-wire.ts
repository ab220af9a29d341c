import type { Status as WireStatus } from '../../../../clients/typescript/src/generated/wire.ts'
import { timestampOrNull } from '../../../domain/timestamp.ts'

type WireInstallation = NonNullable<WireStatus['installation']>
type WireServer = WireInstallation['redis'][number]

interface Server {
  readonly version: string | null
  readonly replicas: ReadonlyArray<{
    readonly name: string
    readonly isOnline: boolean
    readonly lagSeconds: number | null
  }>
  readonly usedBytes: number
  readonly maxBytes: number
  readonly isAppendOnly: boolean | null
  readonly isAppendOnlyWritten: boolean | null
  readonly savedAtSeconds: number | null
  readonly risks: ReadonlyArray<{ readonly message: string }>
}

/** The installation; null = a part of Redis does not answer. */
export interface Installation {
  readonly shards: number
  readonly leaderEpoch: number | null
  readonly executors: {
    readonly areEverywhere: boolean
    readonly alive: number
    readonly slots: number | null
    readonly expiredLeases: number
    readonly executors: ReadonlyArray<{
      readonly name: string
      readonly slots: number | null
      readonly shards: number
      readonly leaseEndsInMs: number
    }>
  } | null
  readonly backlog: {
    readonly ready: number
    readonly inFlight: number
    readonly dueSoon: number
    readonly oldestReadyMs: number | null
    /** Calls by the names of executors. */
    readonly held: ReadonlyMap<string, number>
  } | null
  readonly servers: ReadonlyMap<string, Server | null>
}

export function toWireInstallation(
  { shards, leaderEpoch, executors, backlog, servers }: Installation,
  resources: WireInstallation['resources'],
): WireInstallation {
  return {
    resources,
    shards,
    leader_epoch: leaderEpoch,
    executors: executors === null ? null : toWireExecutors(executors, backlog),
    backlog: backlog === null ? null : toWireWork(backlog),
    redis: [...servers].map(([name, server]) => toWireServer(name, server)),
  }
}

function toWireExecutors(
  { alive, slots, expiredLeases, executors }: NonNullable<Installation['executors']>,
  backlog: Installation['backlog'],
): WireInstallation['executors'] {
  return {
    alive,
    slots,
    expired_leases: expiredLeases,
    executors: executors.map((executor) => ({
      name: executor.name,
      slots: executor.slots,
      in_flight: backlog === null ? null : Math.max(0, backlog.held.get(executor.name) ?? 0),
      shards: executor.shards,
      lease_ends_in_ms: executor.leaseEndsInMs,
    })),
  }
}

function toWireWork({
  ready,
  inFlight,
  dueSoon,
  oldestReadyMs,
}: NonNullable<Installation['backlog']>): WireInstallation['backlog'] {
  // A wrong counter must not produce an answer that its schema refuses.
  return {
    ready: Math.max(0, ready),
    in_flight: Math.max(0, inFlight),
    due_soon: Math.max(0, dueSoon),
    oldest_startable_seconds: secondsOf(oldestReadyMs),
  }
}

function toWireServer(name: string, server: Server | null): WireServer {
  const savedAt = server?.savedAtSeconds ?? null
  return {
    name,
    answers: server !== null,
    version: server?.version ?? null,
    used_bytes: server === null ? null : Math.max(0, server.usedBytes),
    max_bytes: server === null || server.maxBytes === 0 ? null : server.maxBytes,
    append_only: server?.isAppendOnly ?? null,
    append_only_written: server?.isAppendOnlyWritten ?? null,
    saved_at: timestampOrNull(savedAt === null ? null : savedAt * 1000),
    replicas: (server?.replicas ?? []).map((replica) => ({
      name: replica.name,
      is_online: replica.isOnline,
      lag_seconds: replica.lagSeconds,
    })),
    risks: (server?.risks ?? []).map(({ message }) => message),
  }
}

export function secondsOf(ms: number | null): number | null {
  return ms === null ? null : ms / 1000
}
