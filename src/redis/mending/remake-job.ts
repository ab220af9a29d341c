import { randomBytes } from 'node:crypto'
import type { Actor, AuditEntry } from '../../domain/access/audit-record.ts'
import { StorageFullError, StoreUnavailableError } from '../../domain/errors.ts'
import type { JobRequest } from '../../domain/jobs/job.ts'
import { LEASE_MS, STORE_DEADLINE_MS } from '../../domain/limits.ts'
import { monthOf } from '../../domain/quotas.ts'
import type { RemadeJob } from '../../ports/jobs.ts'
import type { MetQuota } from '../../ports/quotas.ts'
import { AUDIT_ARGS, audited, DONE } from '../audit-log/audit-entry.ts'
import type { KnownQueue } from '../chains/known-queue.ts'
import { hintWake, type Engine } from '../client/engine.ts'
import { step } from '../client/step.ts'
import { createSequence, type Sequence } from '../enqueue/sequence.ts'
import { encodeFinished, type FinishedRecord } from '../layout/finished-record.ts'
import { encodeRequest } from '../layout/job-record.ts'
import { indexPlace, queueIdOf } from '../layout/keys.ts'
import { NO_CEILINGS } from '../quotas/ceilings.ts'
import type { QuotaKeeper } from '../quotas/quota-keeper.ts'

const REMAKE_ARGS = [
  ...(['leaseMs', 'localId', 'rootId', 'nonce', 'newJobId', 'newSeq', 'newField', 'timeoutSeconds'] as const),
  ...(['request', 'large', 'summary', 'team', 'jobsMax', 'bytesMax', 'monthMax', 'isShare'] as const),
  ...(['allBytesMax', 'month', 'monthEndsMs'] as const),
  ...AUDIT_ARGS,
] as const

const QUEUE_KEYS = ['meta', 'ready', 'records', 'inFlight', 'payloads', 'summaries'] as const
const KEYS = [
  ...(['clock', 'executors', 'ring', 'teams', 'settingsUses'] as const),
  ...(['jobIndex', 'teamUsage', 'auditLog', 'auditCounts'] as const),
] as const

export const REPLAY = step('replay', import.meta.url, {
  keys: [...KEYS, 'retentionDue'],
  queueKeys: [...QUEUE_KEYS, 'deadLetters', 'deadLetterRecords', 'history'],
  args: [...REMAKE_ARGS, 'oldSeq', 'retainMs'],
})

export const RETRY = step('retry', import.meta.url, {
  keys: KEYS,
  queueKeys: QUEUE_KEYS,
  args: [...REMAKE_ARGS, 'before'],
})

/** Tries after the process lost its id block, after a quota was read anew, or while the chain changes. */
const TRIES_MAX = 4
const RESEND_MS = STORE_DEADLINE_MS / 2

/** What a new job is made of; a chain whose state was read. */
export interface Remaking {
  readonly rootId: number
  /** `before`: the summary that was read, of a finished chain; null = of a dead letter. */
  readonly before: string | null
  readonly finished: Omit<FinishedRecord, 'replayedAs'>
  /** null = the dead letter's own, unchanged. */
  readonly request: JobRequest | null
  readonly timeoutSeconds: number | null
}

/** Who asked for what. */
export interface Asked {
  readonly jobId: number
  readonly actor: Actor
  readonly action: 'replay' | 'retry'
  /** The names of the fields that differ, for the audit log. */
  readonly changed: readonly string[]
}

type Refused = Extract<RemadeJob, { status: 'over_quota' | 'queue_draining' }>
type Made = Extract<RemadeJob, { status: 'made' }>

export type Remake = (
  queue: KnownQueue,
  asked: Asked,
  read: () => Promise<Remaking | Exclude<RemadeJob, Made>>,
) => Promise<RemadeJob>

/**
 * Makes new jobs of ended chains, under one nonce, which marks the id blocks of this process. `read` is called again when
 * the chain has changed meanwhile. Throws StoreUnavailableError and StorageFullError.
 */
export function createRemake(engine: Engine, quotas: QuotaKeeper | null): Remake {
  const nonce = randomBytes(6).toString('base64url')
  const sequences = engine.shards.map((keys) => createSequence(engine, keys))
  return async (queue, asked, read) => {
    const sequence = sequences[queue.keys.shard] as Sequence
    let isLastTry = quotas === null
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const remaking = await read()
      if ('status' in remaking) return remaking
      const newSeq = await sequence.next(RESEND_MS)
      const { reply, newJobId } = await send(engine, quotas, {
        queue,
        asked,
        remaking,
        newSeq,
        nonce,
        isLastTry,
      })
      const [status, due, woken = 0] = reply
      if (status === 'foreign_block') sequence.dropBlocks()
      if (status === 'foreign_block' || status === 'not_dead' || status === 'changed') continue
      if (status === 'ok' || status === 'again') {
        engine.auditLines.note(queue.team, entryOf(queue, asked, newJobId), DONE)
        if (woken > 0) hintWake(engine, queue.keys.shard)
        const queueId = queueIdOf(queue.localId, queue.keys.shard, engine.shards.length)
        return { status: 'made', jobId: newJobId, queueId, scheduledAtMs: Number(due) }
      }
      if (status !== 'draining' && !isLastTry && quotas?.isWorthAnotherLook(queue.team) === true) {
        isLastTry = true
        continue
      }
      return refused(engine, queue, status)
    }
    throw new StoreUnavailableError('The chain keeps changing while a job is made of it')
  }
}

function refused(engine: Engine, queue: KnownQueue, status: string): Refused {
  if (status === 'draining') return { status: 'queue_draining', queue: queue.name }
  if (status === 'room') throw new StorageFullError()
  const quota = status as MetQuota
  engine.metrics.refusedByQuota(quota)
  return { status: 'over_quota', quota }
}

type Reply = readonly [status: string, due?: string, woken?: number]

async function send(
  engine: Engine,
  quotas: QuotaKeeper | null,
  call: {
    readonly queue: KnownQueue
    readonly asked: Asked
    readonly remaking: Remaking
    readonly newSeq: number
    readonly nonce: string
    readonly isLastTry: boolean
  },
): Promise<{ readonly reply: Reply; readonly newJobId: number }> {
  const { queue, asked, remaking, newSeq, nonce } = call
  const { keys, localId, team } = queue
  const newJobId = engine.jobIds.idOf(keys.shard, newSeq, 1)
  const { block, field } = indexPlace(newSeq)
  const { inline, large } =
    remaking.request === null ? { inline: '', large: '' } : encodeRequest(remaking.request)
  const ceilings = (await quotas?.ceilings(keys.shard, [team], new Set(call.isLastTry ? [team] : []))) ?? null
  const { jobs, bytes, monthJobs, isShare } = ceilings?.of(team) ?? NO_CEILINGS
  const { month, nextStartsMs } = ceilings?.month ?? monthOf(engine.runner.redisNowMs(keys.shard))
  const values = {
    ...{ keys, localId, rootId: remaking.rootId, nonce, newJobId, newSeq, newField: field, team },
    jobIndex: keys.jobIndex(block),
    leaseMs: LEASE_MS,
    timeoutSeconds: remaking.timeoutSeconds ?? '',
    ...{ request: inline, large, month, monthEndsMs: nextStartsMs },
    ...{ jobsMax: jobs ?? '', bytesMax: bytes ?? '', monthMax: monthJobs ?? '', isShare: isShare ? 1 : 0 },
    allBytesMax: ceilings?.memory ?? '',
    summary: encodeFinished({ ...remaking.finished, replayedAs: newJobId }),
    ...audited(engine, keys, { team, entry: entryOf(queue, asked, newJobId) }),
  }
  const sent =
    remaking.before === null
      ? REPLAY.with({
          ...values,
          oldSeq: engine.jobIds.seqOf(remaking.rootId),
          retainMs: engine.retention.finishedChainsMs,
        })
      : RETRY.with({ ...values, before: remaking.before })
  return { reply: (await engine.runner.run(sent, RESEND_MS)) as Reply, newJobId }
}

function entryOf(queue: KnownQueue, { jobId, actor, action, changed }: Asked, newJobId: number): AuditEntry {
  const resource = { kind: 'job', id: jobId, name: queue.name } as const
  const after = { job_id: newJobId, ...(changed.length === 0 ? {} : { changed }) }
  return { actor, action, resource, before: null, after }
}
