import { HARD_DEADLINE_GRACE_MS } from '../../domain/limits.ts'
import type { CallRecord, JobChain, LostField, OpenAttempt } from '../../domain/jobs/job.ts'
import type { ChainSettings } from '../../domain/jobs/queue-settings.ts'
import { effectiveSettings } from '../../domain/jobs/retry-policy.ts'
import { ATTEMPTS_PER_CHAIN } from '../../domain/jobs/job-ids.ts'
import { chainIdentity, damagedChain, type DamagedParts } from './damaged-chain.ts'
import type { Engine } from '../base/engine/engine.ts'
import type { KnownQueue } from '../base/names/known-queue.ts'
import { decodeFinished } from '../base/layout/finished-record.ts'
import { decodeRecord, decodeRequest, type JobRecord } from '../base/layout/job-record.ts'
import { settingsIn } from '../base/layout/queue-record.ts'
import { isSuspectWaiting } from '../base/layout/keys.ts'

/** Everything that is stored of one chain; null when nothing is. */
export async function readChain(engine: Engine, queue: KnownQueue, rootId: number): Promise<JobChain | null> {
  const k = queue.keys.queue(queue.localId)
  const { jobIds } = engine
  const root = String(rootId)
  const seq = jobIds.seqOf(rootId)
  const ids = Array.from({ length: ATTEMPTS_PER_CHAIN }, (_, i) =>
    String(jobIds.idOf(queue.keys.shard, seq, i + 1)),
  )
  // A chain moves from the records to the dead letters to the summaries, so reading in this order never misses it.
  const [open, dead, finished, callTexts, largePart, purgeAt] = await engine.runner.read((redis) =>
    Promise.all([
      redis.hmget(k.records, ...ids),
      redis.hget(k.deadLetterRecords, root),
      redis.hget(k.summaries, root),
      redis.hmget(k.callRecords, ...ids),
      redis.hget(k.payloads, String(seq)),
      redis.zscore(k.deadLetters, root),
    ]),
  )
  const calls = callTexts.flatMap(readCall)
  const damaged = (parts: Pick<DamagedParts, 'attempt' | 'text' | 'end'>) =>
    damagedChain(engine, queue, { rootId, calls, ...parts })
  const at = open.findIndex((body) => body !== null)
  const body = open[at]
  if (body !== undefined && body !== null) {
    const { deadline, frozen } = await readLive(engine, queue, { id: ids[at] as string, body })
    return unlessDamaged(
      () => {
        const record = decodeRecord(body, largePart)
        return chainOf(engine, queue, {
          rootId,
          record,
          calls,
          open: toOpenAttempt(record, deadline),
          frozen,
        })
      },
      () => damaged({ attempt: at + 1, text: body, end: 'dead_lettered' }),
    )
  }
  if (dead !== null) {
    const { frozen } = await readLive(engine, queue, { id: root, body: dead })
    return unlessDamaged(
      () => {
        const record = decodeRecord(dead, largePart)
        const purgeAtMs = purgeAt === null ? null : Number(purgeAt)
        return chainOf(engine, queue, { rootId, record, calls, open: null, frozen, purgeAtMs })
      },
      () => damaged({ attempt: 1, text: dead, end: 'dead_lettered' }),
    )
  }
  if (finished === null) return null
  return unlessDamaged(
    () => finishedChain(engine, queue, { rootId, text: finished, calls }),
    () => damaged({ attempt: 1, text: finished, end: 'failed_no_retries' }),
  )
}

/** Reads the hard deadline and the settings of an open job. */
async function readLive(
  engine: Engine,
  queue: KnownQueue,
  { id, body }: { readonly id: string; readonly body: string },
): Promise<{ readonly deadline: string | null; readonly frozen: ChainSettings | null }> {
  const hash = unlessDamaged(
    () => decodeRecord(body, null).settingsHash,
    () => '',
  )
  const [deadline, json] = await engine.runner.read((redis) =>
    Promise.all([
      redis.zscore(queue.keys.queue(queue.localId).inFlight, id),
      redis.hget(queue.keys.settings, hash),
    ]),
  )
  return { deadline, frozen: json === null ? null : settingsIn(hash, json) }
}

export function unlessDamaged<T>(read: () => T, otherwise: () => T): T {
  try {
    return read()
  } catch {
    // The error would quote the request.
    return otherwise()
  }
}

/** Empty when there is no call record, or it is damaged. */
function readCall(text: string | null): CallRecord[] {
  return unlessDamaged(
    () => (text === null ? [] : [JSON.parse(text) as CallRecord]),
    () => [],
  )
}

/** @param deadline the job's score in the in-flight set; null = not in flight */
export function toOpenAttempt(record: JobRecord, deadline: string | null): OpenAttempt {
  const deadlineMs = deadline === null || isSuspectWaiting(deadline) ? null : Number(deadline)
  return {
    attempt: record.attempt,
    status: deadlineMs === null ? 'pending' : 'processing',
    createdAtMs: record.createdAtMs,
    scheduledAtMs: record.dueMs,
    startedAtMs:
      deadlineMs === null ? null : deadlineMs - record.timeoutSeconds * 1000 - HARD_DEADLINE_GRACE_MS,
  }
}

/** A chain with a record: an open one, or a dead letter where `open` is null. */
export function chainOf(engine: Engine, queue: KnownQueue, chain: StoredChain): JobChain {
  const { rootId, record, open, calls, frozen = null, purgeAtMs = null } = chain
  const request = requestOf(record)
  return {
    ...chainIdentity(engine, queue, rootId),
    request,
    attempts: record.earlier,
    open,
    end: open === null ? 'dead_lettered' : null,
    replayedAs: null,
    ...(frozen !== null && { settings: effectiveSettings(frozen, request) }),
    ...(purgeAtMs !== null && { purgeAtMs }),
    calls,
  }
}

interface StoredChain {
  readonly rootId: number
  readonly record: JobRecord
  readonly open: OpenAttempt | null
  readonly calls: readonly CallRecord[]
  /** The settings that the chain keeps; absent where they were not read, as in lists. */
  readonly frozen?: ChainSettings | null
  readonly purgeAtMs?: number | null
}

/** @param chain.text its summary */
export function finishedChain(
  engine: Engine,
  queue: KnownQueue,
  chain: { rootId: number; text: string; calls: readonly CallRecord[] },
): JobChain {
  const { request, attempts, end, replayedAs, hadNoPayload } = decodeFinished(chain.text)
  const kept = keptPayload(chain.calls)
  const payload = hadNoPayload ? (kept ?? null) : kept
  const lost: LostField[] = []
  if (request.headers === null) lost.push('headers')
  if (payload === undefined) lost.push('payload')
  return {
    ...chainIdentity(engine, queue, chain.rootId),
    request: { ...request, payload: payload ?? null },
    attempts,
    open: null,
    end,
    replayedAs,
    calls: chain.calls,
    lost,
  }
}

/**
 * Payload of a finished chain: only its call records keep it, and only if they hold all of it; undefined = not kept.
 */
function keptPayload(calls: readonly CallRecord[]): string | null | undefined {
  const call = calls.at(-1)
  return call === undefined || call.request.bodyTruncated ? undefined : call.request.body
}

/** Lists do not read the payloads of large requests; headers and payload are null there. */
function requestOf(record: JobRecord): JobChain['request'] {
  if (record.requestPart !== null) return decodeRequest(record.requestPart)
  return { ...decodeRequest(record.inlinePart), headers: null, payload: null }
}
