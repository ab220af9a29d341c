import type { AttemptSummary, CallRecord, JobChain } from '../../domain/jobs/job.ts'
import type { KnownQueue } from '../base/names/known-queue.ts'
import type { Engine } from '../base/engine/engine.ts'
import { quarantineIn } from '../base/layout/job-record.ts'
import { queueIdOf } from '../base/layout/keys.ts'

const MESSAGE =
  'What Redis holds of this job is damaged, or its end could not be written. It does not run, and can be deleted.'

/** The parts known of a chain whose record cannot be read. */
export interface DamagedParts {
  readonly rootId: number
  /** The number of its last attempt. */
  readonly attempt: number
  /** The record. It may still say when the job was quarantined. */
  readonly text: string
  readonly end: NonNullable<JobChain['end']>
  readonly calls: readonly CallRecord[]
}

/** Shows a damaged chain: every attempt failed as damaged, and unknown fields are empty. */
export function damagedChain(engine: Engine, queue: KnownQueue, parts: DamagedParts): JobChain {
  const quarantined = quarantineIn(parts.text)
  const foundAtMs = quarantined?.quarantinedAtMs ?? engine.runner.redisNowMs(queue.keys.shard)
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
    ...chainIdentity(engine, queue, parts.rootId),
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
    attempts: Array.from({ length: quarantined?.attempt ?? parts.attempt }, () => attempt),
    open: null,
    end: parts.end,
    replayedAs: null,
    calls: parts.calls,
  }
}

export function chainIdentity(
  engine: Engine,
  { keys, localId, name }: KnownQueue,
  rootId: number,
): Pick<JobChain, 'rootId' | 'queueId' | 'queueName'> {
  return { rootId, queueId: queueIdOf(localId, keys.shard, engine.shards.length), queueName: name }
}

export function isDamaged(chain: JobChain): boolean {
  return chain.attempts.at(-1)?.failureReason === 'damaged'
}

/**
 * Called once per job, after the step that quarantined it. @param job.team left out where it is not known
 * @param why 'unwritten' = its end could not be written
 */
export function reportQuarantined(
  engine: Engine,
  job: { readonly shard: number; readonly jobId: number; readonly team?: string },
  why: keyof typeof QUARANTINED,
): void {
  engine.metrics.jobsQuarantined(1)
  // Without the record, which holds the request.
  engine.logger.error(QUARANTINED[why], { ...job })
}

const QUARANTINED = {
  damaged: 'A record is damaged; its job is quarantined as a dead letter',
  unwritten: 'The end of a job could not be written; it is quarantined as a dead letter',
} as const
