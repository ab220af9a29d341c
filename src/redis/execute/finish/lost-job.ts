import { LOST_LEASES_MAX } from '../../../domain/limits.ts'
import { effectiveSettings, endAttempt } from '../../../domain/jobs/attempt-end.ts'
import { callbackFor } from '../../../domain/jobs/callback.ts'
import type { JobRequest } from '../../../domain/jobs/job.ts'
import { DEFAULT_QUEUE_SETTINGS, type ChainSettings } from '../../../domain/jobs/queue-settings.ts'
import type { BatchJob } from './batch.ts'
import type { Engine } from '../../client/engine.ts'
import type { HeldEntry } from '../held-entries.ts'
import {
  decodeRecord,
  decodeRequest,
  settingsIn,
  SYSTEM_SETTINGS_HASH,
  type JobRecord,
} from '../../layout/job-record.ts'
import { splitNameField, type ShardKeys } from '../../layout/keys.ts'
import { blankBatchJob, endedBatchJob } from './work-end.ts'

/**
 * A job as it is given back, or, when this is its last allowed loss, as it fails. One that cannot be read is set aside.
 */
export async function prepareLoss(engine: Engine, keys: ShardKeys, entry: HeldEntry): Promise<BatchJob> {
  const location = { queue: entry.queue, settingsHash: '', isLarge: false }
  const giveBack = blankBatchJob(Number(entry.id), entry.token, location, engine.jobIds)
  const text = await engine.runner.read((redis) => redis.hget(keys.queue(entry.queue).records, entry.id))
  if (text === null) return giveBack
  const record = readable(() => decodeRecord(text, null))
  if (record === null) return { ...giveBack, kind: 'x' }
  if (record.losses + 1 < LOST_LEASES_MAX) return giveBack
  if (record.settingsHash === SYSTEM_SETTINGS_HASH) return { ...giveBack, kind: 'c' }
  const facts = await readChainFacts(engine, keys, entry, record)
  if (facts === 'gone') return giveBack
  return facts === 'damaged' ? { ...giveBack, kind: 'x' } : failedByLoss(engine, keys, entry, record, facts)
}

/** What of a job stands outside its record. */
interface ChainFacts {
  readonly team: string
  readonly request: JobRequest
  readonly settings: ChainSettings
}

/** `gone`: its queue is, meanwhile. */
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
      redis.hget(queue.meta, 'n'),
    ]),
  )
  if (nameField === null) return 'gone'
  if (record.isLarge && largePart === null) return 'damaged'
  const facts = readable(() => {
    const request = decodeRequest(record.inlinePart + (largePart ?? ''))
    const frozen = settingsIn(record.settingsHash, settingsJson ?? '') ?? DEFAULT_QUEUE_SETTINGS
    return {
      team: splitNameField(nameField).team,
      request,
      settings: effectiveSettings(frozen, request),
    }
  })
  return facts ?? 'damaged'
}

/** null when it is damaged. */
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
  { team, request, settings }: ChainFacts,
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
  )
  const { attempt } = record
  const callback = callbackFor({ rootId, attempt, request, events: settings.callbackEvents, end, jobIds })
  return endedBatchJob(
    {
      jobId,
      rootId,
      token: entry.token,
      team,
      location: { queue: entry.queue, settingsHash: record.settingsHash, isLarge: record.isLarge },
      request,
      dlqRetentionDays: settings.dlqRetentionDays,
      bytes: null,
    },
    end,
    callback,
    null,
    jobIds,
  )
}
