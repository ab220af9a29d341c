import type { CallRecord, JobRequest } from '../../../src/domain/jobs/job.ts'
import type { ChainSettings, QueueSettings } from '../../../src/domain/jobs/queue-settings.ts'

export interface ModelQueue {
  readonly key: string
  readonly team: string
  readonly shard: number
  readonly localId: string
  settings: QueueSettings
  /** Made by a push and not taken over by a resource. */
  isPushed: boolean
  readonly idempotency: Map<string, IdempotencyEntry[]>
  /** Kept call records, newest first. */
  failedCalls: KeptCall[]
  successfulCalls: KeptCall[]
}

export interface IdempotencyEntry {
  readonly day: number
  readonly fingerprint: string
  readonly jobId: number
  readonly dueMs: number
}
export interface KeptCall {
  readonly jobId: number
  readonly bytes: number
}

export interface ModelJob {
  readonly id: number
  readonly queue: ModelQueue
  readonly attempt: number
  dueMs: number
  readonly createdAtMs: number
  /** null for a callback. */
  readonly request: JobRequest | null
  readonly settings: ChainSettings
  place: 'delayed' | 'ready' | 'in_flight'
  losses: number
  deadlineMs: number
}
export interface DeadLetter {
  readonly queue: ModelQueue
  readonly request: JobRequest
  readonly settings: ChainSettings
  readonly purgeAtMs: number
  readonly endedAtMs: number
}
export interface FinishedChain {
  readonly queue: ModelQueue
  readonly request: JobRequest
  readonly end: 'success' | 'failed_no_retries' | 'dead_lettered'
  /** The job that a replay or a retry has made of it. */
  madeId: number | null
  readonly endedAtMs: number
}
/** A change that somebody asked for, as the audit log has to have it. */
export interface ModelAudit {
  readonly action: 'delete' | 'duplicate' | 'fire' | 'replay' | 'retry'
  readonly jobId: number
  readonly atMs: number
}
export interface ModelShard {
  lastMs: number | null
  /** The time after the last jump of the clock. */
  jumpedMs: number | null
  nowMs: number
  /** The latest time this shard ever took for now: what was due then stays ready when the clock goes back. */
  highestMs: number
  readonly leases: Map<string, number>
  /** executor → job id → what it holds it by. */
  readonly held: Map<string, Map<number, { queue: ModelQueue; token: number }>>
  highestToken: number
  /** By team, oldest first. */
  readonly audits: Map<string, ModelAudit[]>
  /** By team, in the order in which the shard gave them numbers. */
  readonly callbacks: Map<string, ModelQueue>
}
export interface ModelLimits {
  readonly failedCalls: number
  readonly successfulCalls: number
  readonly callBytes: number
}
/** How an attempt that was called has ended, as the test drew it. */
export interface DrawnEnd {
  readonly failed: boolean
  readonly endedAtMs: number
  readonly call: CallRecord | null
}
