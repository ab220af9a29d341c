import { crc32 } from 'node:zlib'
import {
  CALL_RECORD_DAYS,
  CALL_RECORDS_BYTES_MAX,
  FAILED_CALLS_PER_QUEUE_MAX,
  FINISHED_CHAINS_DAYS,
  FINISHED_CHAINS_PER_CRON_MAX,
  FINISHED_CHAINS_PER_QUEUE_KEPT,
  SUCCESSFUL_CALLS_PER_QUEUE_MAX,
} from '../../../domain/limits.ts'
import { LogGate } from '../../../domain/log-gate.ts'
import type { JobIds } from '../../../domain/jobs/job-ids.ts'
import type { Logger } from '../../../ports/runtime.ts'
import { type AuditLines, NO_AUDIT_LINES } from '../../../ports/access/audit-log.ts'
import type { Metrics } from '../../../ports/metrics.ts'
import { createShardKeys, nameField, WAKE_CHANNEL, type ShardKeys } from '../layout/keys.ts'
import { WokenQueues } from './woken-queues.ts'
import type { StepRunner } from './step-runner.ts'
import { createTeamNumbers, type TeamNumbers } from './team-numbers.ts'

/** How much is kept, and for how long; see docs/reference/settings.md. */
export interface Retention {
  /** A queue's newest ones, which only their age ends. */
  readonly finishedChainsKept: number
  /** Finished chains kept in a cron's hidden queue. */
  readonly finishedChainsPerCronMax: number
  readonly finishedChainsMs: number
  /**
   * Budget for the finished chains of the whole installation; null = a part of maxmemory. Each shard gets an equal
   * part.
   */
  readonly historyBytes: number | null
  readonly failedCallsMax: number
  readonly successfulCallsMax: number
  readonly callRecordsMs: number
  /** Bound for the whole installation; each shard gets an equal part. */
  readonly callRecordsBytesMax: number
}

const DAY_MS = 86_400_000

export const DEFAULT_RETENTION: Retention = Object.freeze({
  finishedChainsKept: FINISHED_CHAINS_PER_QUEUE_KEPT,
  finishedChainsPerCronMax: FINISHED_CHAINS_PER_CRON_MAX,
  finishedChainsMs: FINISHED_CHAINS_DAYS * DAY_MS,
  historyBytes: null,
  failedCallsMax: FAILED_CALLS_PER_QUEUE_MAX,
  successfulCallsMax: SUCCESSFUL_CALLS_PER_QUEUE_MAX,
  callRecordsMs: CALL_RECORD_DAYS * DAY_MS,
  callRecordsBytesMax: CALL_RECORDS_BYTES_MAX,
})

/** The engine's shared parts. */
export interface Engine {
  readonly runner: StepRunner
  readonly shards: readonly ShardKeys[]
  readonly jobIds: JobIds
  readonly teamNumbers: TeamNumbers
  readonly wokenQueues: WokenQueues
  readonly retention: Retention
  /** Whether its time is moved by hand, so that jumps forward are no faults. */
  readonly isForTests: boolean
  readonly logger: Logger
  readonly metrics: Metrics
  /** The records of the audit log as lines of the log. */
  readonly auditLines: AuditLines
  /** Decides which of many like defects are logged. */
  readonly faultGate: LogGate
}

export function createEngine(parts: {
  runner: StepRunner
  jobIds: JobIds
  logger: Logger
  metrics: Metrics
  retention?: Retention
  /** No when absent. */
  isForTests?: boolean
  /** Absent where nothing is audited. */
  auditLines?: AuditLines
}): Engine {
  return {
    runner: parts.runner,
    jobIds: parts.jobIds,
    teamNumbers: createTeamNumbers(parts.runner),
    wokenQueues: new WokenQueues(),
    logger: parts.logger,
    metrics: parts.metrics,
    retention: parts.retention ?? DEFAULT_RETENTION,
    isForTests: parts.isForTests ?? false,
    auditLines: parts.auditLines ?? NO_AUDIT_LINES,
    faultGate: new LogGate(),
    shards: Array.from({ length: parts.jobIds.shards }, (_, shard) => createShardKeys(shard)),
  }
}

/** The shard of a team's queue. */
export function shardOfQueue(engine: Engine, team: string, queue: string): ShardKeys {
  return shardKeys(engine, crc32(nameField(team, queue)) % engine.shards.length)
}

/** The shard that gave a cron its id. The cron lives there unless it runs through a queue of another shard. */
export function homeOfCron(engine: Engine, cronId: number): ShardKeys {
  return shardKeys(engine, cronId % engine.shards.length)
}

export function shardKeys(engine: Engine, shard: number): ShardKeys {
  const keys = engine.shards[shard]
  if (keys === undefined) throw new Error(`no such shard: ${shard}`)
  return keys
}

/** Hints to executors that a shard has something to claim. Lossy: a failed publish is not an error. */
export function hintWake(engine: Engine, shard: number): void {
  engine.runner
    .read((connection) => connection.publish(WAKE_CHANNEL, String(shard)))
    .catch(() => engine.logger.debug('A wake hint was lost', { shard }))
}
