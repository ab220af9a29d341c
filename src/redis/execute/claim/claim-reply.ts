import { effectiveSettings } from '../../../domain/jobs/retry-policy.ts'
import { DEFAULT_QUEUE_SETTINGS, type ChainSettings } from '../../../domain/jobs/queue-settings.ts'
import type { ClaimedWork } from '../../../ports/jobs.ts'
import type { Engine } from '../../client/engine.ts'
import { decodeRecord, decodeRequest, decodeSystemRequest, type JobRecord } from '../../layout/job-record.ts'
import { isCallbackQueue, splitNameField, type ShardKeys } from '../../layout/keys.ts'
import type { SettingsCache } from '../settings-cache.ts'

/** What the `claim` step answers; execute/claim/claim.lua says what each part holds. */
export type ClaimReply = [
  status: 'ok' | 'lost',
  now: string,
  token: string,
  nextDue: string,
  ringSize: number,
  /** Whom to ask next: number of a team, count of its queues, their local ids, and so on. */
  candidates: Array<string | number>,
  /** In fours: job id, number of its queue among those asked, record, large part. */
  jobs: Array<string | number>,
  /** In twos: number of a queue, its `team/name`. */
  names: Array<string | number>,
  /** In twos: hash, JSON; '' when it is not stored. */
  settings: string[],
  throttledTeams: string[],
  /** '' when each job fitted. */
  bytesWanted: string,
]

/** The queues among those whom a claim asks, in their order. */
export function queuesOf(candidates: ReadonlyArray<string | number>): string[] {
  const queues: string[] = []
  for (let at = 0; at < candidates.length;) {
    const end = at + 2 + Number(candidates[at + 1])
    queues.push(...candidates.slice(at + 2, end).map(String))
    at = end
  }
  return queues
}

/** @param asked local ids of the queues the claim asked, in order */
export function readClaim(
  engine: Engine,
  keys: ShardKeys,
  settings: SettingsCache,
  reply: readonly [...ClaimReply, ...unknown[]],
  asked: readonly string[],
): ClaimedWork[] {
  const [, now, token, , , , jobs, names, learnt] = reply
  const settingsOf = new Map(tuples<[string, string]>(learnt, 2))
  const nameOf = new Map(tuples<[number, string]>(names, 2))
  return tuples<[string, number, string, string]>(jobs, 4).map(([id, index, text, large]): ClaimedWork => {
    const queue = asked[index - 1] as string
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
      if (record.isLarge && large === '') throw new Error('what is large of a request is gone')
      const base = {
        ...claimed,
        scheduledAtMs: record.dueMs,
        location: { queue, settingsHash: record.settingsHash, isLarge: record.isLarge },
      }
      return isCallbackQueue(queue)
        ? claimedCallback(base, record)
        : claimedJob(engine, base, record, {
            nameField,
            // In the turn of its job: others may be forgotten for what is learnt.
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
