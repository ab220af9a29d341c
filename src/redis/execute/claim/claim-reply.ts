import { effectiveSettings } from '../../../domain/jobs/retry-policy.ts'
import { DEFAULT_QUEUE_SETTINGS, type ChainSettings } from '../../../domain/jobs/queue-settings.ts'
import type { ClaimedWork } from '../../../ports/jobs.ts'
import type { Engine } from '../../client/engine.ts'
import { decodeRecord, decodeRequest, decodeSystemRequest, type JobRecord } from '../../layout/job-record.ts'
import { isCallbackQueue, splitNameField, type ShardKeys } from '../../layout/keys.ts'
import type { StepCall } from '../../client/step.ts'
import type { SettingsCache } from './settings-cache.ts'

/** The answer of `claim`. */
export type ClaimReply = [
  status: 'ok' | 'lost',
  now: string,
  token: string,
  nextDue: string,
  ringSize: number,
  /** Whom to ask next: number of a team, count of its queues, their local ids, and so on. */
  candidates: Array<string | number>,
  /** In fours: job id, position of its queue among those asked (from 1), record, payload. */
  jobs: Array<string | number>,
  /** In twos: position of a queue, its `team/name`. */
  names: Array<string | number>,
  /** In twos: hash, JSON; '' when it is not stored. */
  settings: string[],
  throttledTeams: string[],
  /** Of the largest job that did not fit; '' = all fitted. */
  bytesWanted: string,
]

/** A claim that was sent. */
export interface SentClaim {
  readonly call: StepCall
  /** Local ids of the queues that it asks, in the order in which the answer counts them. */
  readonly queues: readonly string[]
}

export function readClaim(
  engine: Engine,
  keys: ShardKeys,
  {
    settings,
    reply,
    queues,
  }: {
    readonly settings: SettingsCache
    readonly reply: readonly [...ClaimReply, ...unknown[]]
    readonly queues: readonly string[]
  },
): ClaimedWork[] {
  const [, now, token, , , , jobs, names, learnt] = reply
  const settingsOf = new Map(tuples<[string, string]>(learnt, 2))
  const nameOf = new Map(tuples<[number, string]>(names, 2))
  return tuples<[string, number, string, string]>(jobs, 4).map(([id, index, text, large]): ClaimedWork => {
    const queue = queues[index - 1] as string
    const nameField = nameOf.get(index) ?? '/'
    const claimed = {
      shard: keys.shard,
      jobId: Number(id),
      token,
      startedAtMs: Number(now),
      bytes: Buffer.byteLength(text) + Buffer.byteLength(large),
    }
    try {
      const record = decodeRecord(text, large)
      if (record.isLarge && large === '') throw new Error('the payload is missing')
      const base = {
        ...claimed,
        scheduledAtMs: record.dueMs,
        location: { queue, settingsHash: record.settingsHash, isLarge: record.isLarge },
      }
      return isCallbackQueue(queue)
        ? claimedCallback(base, record)
        : claimedJob(engine, base, record, {
            nameField,
            // Job by job: learning one version may evict another that this reply brought.
            frozen: settings.learn(record.settingsHash, settingsOf.get(record.settingsHash) ?? ''),
          })
    } catch {
      return {
        kind: 'damaged',
        ...claimed,
        team: splitNameField(nameField).team,
        scheduledAtMs: claimed.startedAtMs,
        location: { queue, settingsHash: '', isLarge: false },
      }
    }
  })
}

function tuples<Tuple extends unknown[]>(flat: readonly unknown[], size: number): Tuple[] {
  return Array.from(
    { length: flat.length / size },
    (_, i) => flat.slice(i * size, (i + 1) * size) as unknown as Tuple,
  )
}

type ClaimedBase = Pick<
  ClaimedWork,
  'shard' | 'jobId' | 'token' | 'startedAtMs' | 'scheduledAtMs' | 'bytes' | 'location'
>

function claimedCallback(base: ClaimedBase, record: JobRecord): ClaimedWork {
  const { team, ...callback } = decodeSystemRequest(record.requestPart ?? '')
  return { kind: 'callback', ...base, team, callback, timeoutSeconds: record.timeoutSeconds }
}

function claimedJob(
  engine: Engine,
  base: ClaimedBase,
  record: JobRecord,
  { nameField, frozen }: { nameField: string; frozen: ChainSettings | null },
): ClaimedWork {
  const request = decodeRequest(record.requestPart ?? '')
  if (frozen === null) {
    engine.logger.error('A job names settings that are not stored or damaged; defaults are used', {
      jobId: base.jobId,
    })
  }
  const { team, queue: queueName } = splitNameField(nameField)
  return {
    kind: 'job',
    ...base,
    team,
    queueName,
    rootId: engine.jobIds.rootOf(base.jobId),
    attempt: record.attempt,
    createdAtMs: record.createdAtMs,
    earlier: record.earlier,
    request,
    settings: effectiveSettings(frozen ?? DEFAULT_QUEUE_SETTINGS, request),
  }
}
