import { HARD_DEADLINE_GRACE_MS } from '../../domain/limits.ts'
import type { CallRecord, JobChain, OpenAttempt } from '../../domain/jobs/job.ts'
import { ATTEMPTS_PER_CHAIN } from '../../domain/jobs/job-ids.ts'
import { damagedChain, type DamagedParts } from './damaged-chain.ts'
import type { Engine } from '../client/engine.ts'
import type { KnownQueue } from './known-queue.ts'
import { decodeFinished } from '../layout/finished-record.ts'
import { decodeRecord, decodeRequest, type JobRecord } from '../layout/job-record.ts'
import { isSuspectWaiting, queueIdOf } from '../layout/keys.ts'

/** Everything known of one chain; null when nothing is. */
export async function readChain(engine: Engine, queue: KnownQueue, rootId: number): Promise<JobChain | null> {
  const k = queue.keys.queue(queue.localId)
  const { jobIds } = engine
  const root = String(rootId)
  const shard = queue.keys.shard
  const seq = jobIds.seqOf(rootId)
  const ids = Array.from({ length: ATTEMPTS_PER_CHAIN }, (_, i) => String(jobIds.idOf(shard, seq, i + 1)))
  // A chain moves from b: to xb: to d:, so reading in this order never misses it.
  const [open, dead, finished, calls, largePart] = await engine.runner.read((redis) =>
    Promise.all([
      redis.hmget(k.records, ...ids),
      redis.hget(k.deadLetterRecords, root),
      redis.hget(k.summaries, root),
      redis.hmget(k.callRecords, ...ids),
      redis.hget(k.payloads, String(seq)),
    ]),
  )
  const records = calls.flatMap(readCall)
  const damaged = (parts: Pick<DamagedParts, 'attempt' | 'text' | 'end'>) =>
    damagedChain(engine, queue, { rootId, calls: records, ...parts })
  const at = open.findIndex((body) => body !== null)
  const body = open[at]
  if (body !== undefined && body !== null) {
    const deadline = await engine.runner.read((redis) => redis.zscore(k.inFlight, ids[at] as string))
    return unlessDamaged(
      () => {
        const record = decodeRecord(body, largePart)
        return openChain(engine, queue, {
          ...{ rootId, record, calls: records },
          open: toOpenAttempt(record, deadline),
        })
      },
      () => damaged({ attempt: at + 1, text: body, end: 'dead_lettered' }),
    )
  }
  if (dead !== null) {
    return unlessDamaged(
      () => deadChain(engine, queue, rootId, decodeRecord(dead, largePart), records),
      () => damaged({ attempt: 1, text: dead, end: 'dead_lettered' }),
    )
  }
  if (finished === null) return null
  return unlessDamaged(
    () => finishedChain(engine, queue, rootId, finished, records),
    () => damaged({ attempt: 1, text: finished, end: 'failed_no_retries' }),
  )
}

export function unlessDamaged<T>(read: () => T, otherwise: () => T): T {
  try {
    return read()
  } catch {
    // Not why: it would quote the request.
    return otherwise()
  }
}

/** None when there is none, or it is damaged. */
function readCall(text: string | null): CallRecord[] {
  return unlessDamaged(
    () => (text === null ? [] : [JSON.parse(text) as CallRecord]),
    () => [],
  )
}

/** @param deadline the job's score in a:, or null when it is not in flight */
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

/** What was read of a chain that goes on. */
export interface OpenChainParts {
  readonly rootId: number
  readonly record: JobRecord
  readonly open: OpenAttempt
  readonly calls: readonly CallRecord[]
}

export function openChain(engine: Engine, queue: KnownQueue, parts: OpenChainParts): JobChain {
  const { rootId, record, open, calls } = parts
  return {
    ...identity(engine, queue, rootId),
    request: requestOf(record),
    attempts: record.earlier,
    open,
    end: null,
    replayedAs: null,
    calls,
  }
}

export function deadChain(
  engine: Engine,
  queue: KnownQueue,
  rootId: number,
  record: JobRecord,
  calls: readonly CallRecord[],
): JobChain {
  return {
    ...identity(engine, queue, rootId),
    request: requestOf(record),
    attempts: record.earlier,
    open: null,
    end: 'dead_lettered',
    replayedAs: null,
    calls,
  }
}

export function finishedChain(
  engine: Engine,
  queue: KnownQueue,
  rootId: number,
  text: string,
  calls: readonly CallRecord[],
): JobChain {
  const record = decodeFinished(text)
  return {
    ...identity(engine, queue, rootId),
    request: { ...record.request, payload: keptPayload(calls) },
    attempts: record.attempts,
    open: null,
    end: record.end,
    replayedAs: record.replayedAs,
    calls,
  }
}

/** A finished chain's payload lives on in its call records only, as far as those hold it whole. */
function keptPayload(calls: readonly CallRecord[]): string | null {
  const call = calls.at(-1)
  return call === undefined || call.request.bodyTruncated ? null : call.request.body
}

/** A listing does not read the tails of large requests: what may stand in them is null there. */
function requestOf(record: JobRecord): JobChain['request'] {
  if (record.requestPart !== null) return decodeRequest(record.requestPart)
  return { ...decodeRequest(record.inlinePart), headers: null, payload: null }
}

function identity(engine: Engine, queue: KnownQueue, rootId: number) {
  return {
    rootId,
    queueId: queueIdOf(queue.localId, queue.keys.shard, engine.shards.length),
    queueName: queue.name,
  }
}
