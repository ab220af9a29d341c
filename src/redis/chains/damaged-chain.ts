import type { AttemptSummary, CallRecord, JobChain } from '../../domain/jobs/job.ts'
import type { KnownQueue } from './known-queue.ts'
import type { Engine } from '../client/engine.ts'
import { setAsideIn } from '../layout/job-record.ts'
import { queueIdOf } from '../layout/keys.ts'

const MESSAGE = 'What Redis holds of this job is damaged. It does not run, and can be deleted.'

/** What is known of a chain whose record cannot be read: its place, and when it was found so. */
export interface DamagedParts {
  readonly rootId: number
  /** The number of its last attempt. */
  readonly attempt: number
  /** The record, as far as it says when it was set aside; else that is now. */
  readonly text: string
  readonly end: NonNullable<JobChain['end']>
  readonly calls: readonly CallRecord[]
}

/** A chain whose record is damaged: each attempt as one that failed for that. What cannot be known is empty. */
export function damagedChain(engine: Engine, queue: KnownQueue, parts: DamagedParts): JobChain {
  const setAside = setAsideIn(parts.text)
  const foundAtMs = setAside?.setAsideAtMs ?? engine.runner.redisNowMs(queue.keys.shard)
  const attempt: AttemptSummary = {
    createdAtMs: foundAtMs,
    scheduledAtMs: foundAtMs,
    startedAtMs: foundAtMs,
    completedAtMs: foundAtMs,
    failureReason: 'damaged',
    errorMessage: MESSAGE,
    responseStatus: null,
    durationMs: 0,
  }
  return {
    rootId: parts.rootId,
    queueId: queueIdOf(queue.localId, queue.keys.shard, engine.shards.length),
    queueName: queue.name,
    request: {
      url: '',
      method: 'POST',
      headers: null,
      payload: null,
      callbackUrl: null,
      callbackEvents: null,
      tags: {},
      timeoutSeconds: null,
      retryDelays: null,
      retriesEnabled: null,
      successAssertions: null,
      cron: null,
    },
    attempts: Array.from({ length: setAside?.attempt ?? parts.attempt }, () => attempt),
    open: null,
    end: parts.end,
    replayedAs: null,
    calls: parts.calls,
  }
}

export function isDamaged(chain: JobChain): boolean {
  return chain.attempts.at(-1)?.failureReason === 'damaged'
}

/** Of one job, once: what stands in the log is told when the step has done it. */
export function tellSetAside(engine: Engine, shard: number, jobId: number): void {
  engine.metrics.jobsQuarantined(1)
  // Not what it holds: it would quote the request.
  engine.logger.error('A record is damaged; its job was set aside as a dead letter', { shard, jobId })
}
