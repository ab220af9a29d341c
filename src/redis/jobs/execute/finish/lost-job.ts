import { LOST_LEASES_MAX } from '../../../../domain/limits.ts'
import { effectiveSettings, endAttempt } from '../../../../domain/jobs/retry-policy.ts'
import { callbackFor } from '../../../../domain/jobs/callback.ts'
import type { JobRequest } from '../../../../domain/jobs/job.ts'
import { DEFAULT_QUEUE_SETTINGS, type ChainSettings } from '../../../../domain/jobs/queue-settings.ts'
import type { BatchJob } from './batch-job.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import type { HeldEntry } from '../held-entries.ts'
import { decodeRecord, decodeRequest, type JobRecord } from '../../../base/layout/job-record.ts'
import { SYSTEM_SETTINGS_HASH } from '../../../base/layout/system-record.ts'
import { settingsIn } from '../../../base/layout/queue-record.ts'
import { END, QUEUE } from '../../../base/layout/fields.ts'
import { splitNameField, type ShardKeys } from '../../../base/layout/keys.ts'
import { blankBatchJob, endedBatchJob } from './work-end.ts'

const GOLDEN_RATIO = 0.618_033_988_749_895

/** Releases a job, or fails it if this was its last allowed loss. A job that cannot be read is quarantined. */
export async function prepareLoss(engine: Engine, keys: ShardKeys, entry: HeldEntry): Promise<BatchJob> {
  const released = blankLoss(entry)
  const text = await engine.runner.read((redis) => redis.hget(keys.queue(entry.queue).records, entry.id))
  if (text === null) return released
  const record = readable(() => decodeRecord(text, null))
  if (record === null) return { ...released, kind: END.quarantined }
  if (record.losses + 1 < LOST_LEASES_MAX) return released
  if (record.settingsHash === SYSTEM_SETTINGS_HASH) return { ...released, kind: END.callback_ended }
  const facts = await readChainFacts(engine, keys, entry, record)
  if (facts === 'gone') return released
  return facts === 'damaged'
    ? { ...released, kind: END.quarantined }
    : failedByLoss(engine, keys, entry, record, facts)
}

/** Makes the end of a job that cannot be judged at all. */
export function quarantinedLoss(entry: HeldEntry): BatchJob {
  return { ...blankLoss(entry), kind: END.quarantined }
}

function blankLoss(entry: HeldEntry): BatchJob {
  const location = { queue: entry.queue, settingsHash: '', isLarge: false }
  return blankBatchJob(Number(entry.id), entry.token, location)
}

/** What is known of a job outside its record. */
interface ChainFacts {
  readonly team: string
  readonly queueName: string
  readonly request: JobRequest
  readonly settings: ChainSettings
}

/** 'gone' = the queue was deleted meanwhile. */
async function readChainFacts(
  engine: Engine,
  keys: ShardKeys,
  entry: HeldEntry,
  record: JobRecord,
): Promise<ChainFacts | 'gone' | 'damaged'> {
  const queue = keys.queue(entry.queue)
  const [largePart, settingsJson, nameField] = await engine.runner.read((redis) =>
    Promise.all([
      record.isLarge ? redis.hget(queue.payloads, String(engine.jobIds.seqOf(Number(entry.id)))) : null,
      redis.hget(keys.settings, record.settingsHash),
      redis.hget(queue.meta, QUEUE.name),
    ]),
  )
  if (nameField === null) return 'gone'
  if (record.isLarge && largePart === null) return 'damaged'
  const facts = readable(() => {
    const request = decodeRequest(record.inlinePart + (largePart ?? ''))
    const frozen = settingsIn(record.settingsHash, settingsJson ?? '') ?? DEFAULT_QUEUE_SETTINGS
    const { team, queue: queueName } = splitNameField(nameField)
    return {
      team,
      queueName,
      request,
      settings: effectiveSettings(frozen, request),
    }
  })
  return facts ?? 'damaged'
}

/** null = it is damaged. */
function readable<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}

function failedByLoss(
  engine: Engine,
  keys: ShardKeys,
  entry: HeldEntry,
  record: JobRecord,
  { team, queueName, request, settings }: ChainFacts,
): BatchJob {
  const { jobIds } = engine
  const jobId = Number(entry.id)
  const rootId = jobIds.rootOf(jobId)
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const end = endAttempt(
    { ...record, scheduledAtMs: record.dueMs, startedAtMs: nowMs, settings },
    {
      completedAtMs: nowMs,
      durationMs: 0,
      responseStatus: null,
      failureReason: 'executor_lost',
      errorMessage: `The executor was lost during this attempt, ${LOST_LEASES_MAX} times.`,
    },
    // Jobs that were lost together are spread by their ids, so that whoever repeats this comes to the same.
    () => (jobId * GOLDEN_RATIO) % 1,
  )
  const { attempt } = record
  const callback = callbackFor({ rootId, attempt, request, events: settings.callbackEvents, end, jobIds })
  return endedBatchJob(
    engine,
    {
      jobId,
      rootId,
      token: entry.token,
      team,
      queueName,
      attempt,
      location: { queue: entry.queue, settingsHash: record.settingsHash, isLarge: record.isLarge },
      request,
      settings,
      bytes: null,
    },
    { end, callback, call: null },
  )
}
