import { effectiveSettings } from '../../../../domain/jobs/retry-policy.ts'
import { DEFAULT_QUEUE_SETTINGS, type ChainSettings } from '../../../../domain/jobs/queue-settings.ts'
import type { ClaimedWork } from '../../../../ports/jobs.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import { decodeRecord, decodeRequest, type JobRecord } from '../../../base/layout/job-record.ts'
import { decodeSystemRequest } from '../../../base/layout/system-record.ts'
import { isCallbackQueue, splitNameField, type ShardKeys } from '../../../base/layout/keys.ts'
import type { StepCall } from '../../../base/engine/step.ts'
import type { SettingsCache } from './settings-cache.ts'

/** The answer of `claim`. */
export type ClaimReply = [
  status: 'ok' | 'lost',
  now: string,
  token: string,
  nextDue: string,
  ringSize: number,
  /** Whom to ask next: the number of a team, how many of its queues follow, their local ids, and so on. */
  candidates: Array<string | number>,
  /** The position of a queue among those asked (from 1), how many jobs follow, id and record of each, and so on. */
  jobs: Array<string | number>,
  /**
   * Pairs of the position of a queue and its `team/name`. Behind it, each after a line break: the mark of its breaker, `b`
   * or, of a probe, `p`, else ''; if it has a rate, when its jobs may begin and how many ms later at most.
   */
  names: Array<string | number>,
  /** Pairs of a hash and its JSON; '' = the settings are not stored. */
  settings: string[],
  crowdedTeams: string[],
  /** The bytes of the largest job that did not fit; '' = all fitted. */
  bytesWanted: string,
  /** Pairs of the position of a job (from 1) and the tail of its request. */
  payloads: Array<string | number>,
]

/** A claim that was sent. */
export interface SentClaim {
  readonly call: StepCall
  /** The local ids of the queues that it asks, in the order in which the answer counts them. */
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
  const [, now, token, , , , jobs, names, learnt, , , payloads] = reply
  const reading: Reading = {
    engine,
    settings,
    shard: keys.shard,
    token,
    nowMs: Number(now),
    settingsOf: pairs<string, string>(learnt),
  }
  const nameOf = pairs<number, string>(names)
  const payloadOf = pairs<number, string>(payloads)
  const work: ClaimedWork[] = []
  for (let at = 0; at < jobs.length;) {
    const index = Number(jobs[at])
    const queue = queueOf(queues[index - 1] as string, nameOf.get(index) ?? '/')
    const end = at + 2 + 2 * Number(jobs[at + 1])
    for (at += 2; at < end; at += 2) {
      const large = payloadOf.get(work.length + 1) ?? ''
      work.push(workOf(reading, queue, { id: Number(jobs[at]), text: String(jobs[at + 1]), large }))
    }
  }
  return work
}

/** What all jobs of an answer share. */
interface Reading {
  readonly engine: Engine
  readonly settings: SettingsCache
  readonly shard: number
  readonly token: string
  readonly nowMs: number
  /** The JSON of settings by its hash. */
  readonly settingsOf: ReadonlyMap<string, string>
}

interface ClaimedQueue {
  readonly localId: string
  readonly nameField: string
  /** Of its breaker; '' = it has none. */
  readonly mark: string
  /** As in `ClaimedJob`; null = it has no rate. */
  readonly beginsWithin: { readonly fromMs: number; readonly toMs: number } | null
}

function queueOf(localId: string, text: string): ClaimedQueue {
  const [nameField = '', mark = '', from, late] = text.split('\n', 4)
  const hasRate = from !== undefined && late !== undefined
  return {
    localId,
    nameField,
    mark,
    beginsWithin: hasRate ? { fromMs: Number(from), toMs: Number(from) + Number(late) } : null,
  }
}

function workOf(
  reading: Reading,
  queue: ClaimedQueue,
  { id, text, large }: { readonly id: number; readonly text: string; readonly large: string },
): ClaimedWork {
  const { engine, shard, token, nowMs } = reading
  const claimed = {
    shard,
    jobId: id,
    token,
    startedAtMs: queue.beginsWithin?.fromMs ?? nowMs,
    bytes: Buffer.byteLength(text) + Buffer.byteLength(large),
  }
  try {
    const record = decodeRecord(text, large)
    if (record.isLarge && large === '') throw new Error('the payload is missing')
    const { settingsHash, isLarge } = record
    const base = {
      ...claimed,
      scheduledAtMs: record.dueMs,
      location: { queue: queue.localId, settingsHash, isLarge },
    }
    if (isCallbackQueue(queue.localId)) return claimedCallback(base, record)
    // Settings are learnt job by job, as learning one version may evict another that this reply brought.
    const frozen = reading.settings.learn(settingsHash, reading.settingsOf.get(settingsHash) ?? '')
    return claimedJob(engine, base, record, { ...queue, frozen })
  } catch {
    return {
      kind: 'damaged',
      ...claimed,
      // This avoids functions that may be what has thrown, because the answer brings jobs of other teams.
      team: queue.nameField.slice(0, Math.max(0, queue.nameField.indexOf('/'))),
      scheduledAtMs: nowMs,
      location: { queue: queue.localId, settingsHash: '', isLarge: false },
    }
  }
}

function pairs<Key, Value>(flat: readonly unknown[]): Map<Key, Value> {
  const map = new Map<Key, Value>()
  for (let at = 0; at + 1 < flat.length; at += 2) map.set(flat[at] as Key, flat[at + 1] as Value)
  return map
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
  { nameField, mark, beginsWithin, frozen }: ClaimedQueue & { readonly frozen: ChainSettings | null },
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
    ...(mark !== '' && { breaker: mark === 'p' ? ('probes' as const) : ('watches' as const) }),
    ...(beginsWithin !== null && { beginsWithin }),
  }
}
