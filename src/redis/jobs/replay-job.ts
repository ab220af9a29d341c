import { randomBytes } from 'node:crypto'
import type { Actor, AuditEntry } from '../../domain/access/audit-record.ts'
import { StoreUnavailableError } from '../../domain/errors.ts'
import { LEASE_MS, STORE_DEADLINE_MS } from '../../domain/limits.ts'
import { monthOf } from '../../domain/quotas.ts'
import type { JobStore } from '../../ports/jobs.ts'
import { AUDIT_ARGS, audited } from '../audit-log/audit-entry.ts'
import { readChain, unlessDamaged } from '../chains/chain-reader.ts'
import { isDamaged } from '../chains/damaged-chain.ts'
import type { KnownQueue } from '../chains/known-queue.ts'
import { hintWake, type Engine } from '../client/engine.ts'
import { step } from '../client/step.ts'
import { createSequence, type Sequence } from '../enqueue/sequence.ts'
import { encodeFinished } from '../layout/finished-record.ts'
import { decodeRecord, decodeRequest } from '../layout/job-record.ts'
import { indexPlace, queueIdOf } from '../layout/keys.ts'

export const REPLAY = step('replay', import.meta.url, {
  keys: [
    ...(['clock', 'executors', 'ring', 'teams', 'retentionDue', 'settingsUses'] as const),
    ...(['jobIndex', 'teamUsage', 'auditLog'] as const),
  ],
  queueKeys: [
    ...(['meta', 'ready', 'records', 'inFlight', 'payloads'] as const),
    ...(['deadLetters', 'deadLetterRecords', 'history', 'summaries'] as const),
  ],
  args: [
    ...(['leaseMs', 'retainMs', 'localId', 'rootId', 'oldSeq', 'nonce', 'newJobId', 'newSeq'] as const),
    ...(['newField', 'timeoutSeconds', 'summary', 'month', 'monthEndsMs'] as const),
    ...AUDIT_ARGS,
  ],
})

/** Retries after the process lost its id block, or while the dead letter changes. */
const TRIES_MAX = 3
const RESEND_MS = STORE_DEADLINE_MS / 2

type ReplayEnd = Awaited<ReturnType<JobStore['replay']>>

/** Replays dead letters under one nonce, which marks the id blocks of this process. Throws StoreUnavailableError. */
export function createReplay(
  engine: Engine,
): (queue: KnownQueue, asked: { readonly jobId: number; readonly actor: Actor }) => Promise<ReplayEnd> {
  const nonce = randomBytes(6).toString('base64url')
  const sequences = engine.shards.map((keys) => createSequence(engine, keys))
  return async (queue, { jobId, actor }) => {
    const { keys, localId } = queue
    const rootId = engine.jobIds.rootOf(jobId)
    const sequence = sequences[keys.shard] as Sequence
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const letter = await readDeadLetter(engine, queue, rootId)
      if (letter === null) return whyNotReplayable(engine, queue, rootId)
      const newSeq = await sequence.next(RESEND_MS)
      const newJobId = engine.jobIds.idOf(keys.shard, newSeq, 1)
      const { block, field } = indexPlace(newSeq)
      const { month, nextStartsMs } = monthOf(engine.runner.redisNowMs(keys.shard))
      const call = REPLAY.with({
        ...{ keys, localId, rootId, nonce, newJobId, newSeq, newField: field, month },
        jobIndex: keys.jobIndex(block),
        leaseMs: LEASE_MS,
        retainMs: engine.retention.finishedChainsMs,
        oldSeq: engine.jobIds.seqOf(rootId),
        timeoutSeconds: letter.request.timeoutSeconds ?? '',
        summary: encodeFinished({ ...letter, end: 'dead_lettered', replayedAs: newJobId }),
        monthEndsMs: nextStartsMs,
        ...audited(engine, keys, { team: queue.team, entry: replayEntry(queue, { jobId, newJobId, actor }) }),
      })
      const [status, due, woken] = (await engine.runner.run(call, RESEND_MS)) as [string, string, number]
      if (status === 'foreign_block') sequence.dropBlock()
      if (status === 'foreign_block' || status === 'not_dead') continue
      if (woken > 0) hintWake(engine, keys.shard)
      const queueId = queueIdOf(localId, keys.shard, engine.shards.length)
      return { status: 'replayed', jobId: newJobId, queueId, scheduledAtMs: Number(due) }
    }
    throw new StoreUnavailableError('The dead letter keeps changing while it is replayed')
  }
}

function replayEntry(
  queue: KnownQueue,
  { jobId, newJobId, actor }: { readonly jobId: number; readonly newJobId: number; readonly actor: Actor },
): AuditEntry {
  const resource = { kind: 'job', id: jobId, name: queue.name } as const
  return { actor, action: 'replay', resource, before: null, after: { job_id: newJobId } }
}

/** null when there is none, or it is damaged. */
async function readDeadLetter(engine: Engine, queue: KnownQueue, rootId: number) {
  const k = queue.keys.queue(queue.localId)
  const [body, largePart] = await engine.runner.read((redis) =>
    Promise.all([
      redis.hget(k.deadLetterRecords, String(rootId)),
      redis.hget(k.payloads, String(engine.jobIds.seqOf(rootId))),
    ]),
  )
  if (body === null) return null
  return unlessDamaged(
    () => {
      const { requestPart, earlier } = decodeRecord(body, largePart)
      return requestPart === null ? null : { attempts: earlier, request: decodeRequest(requestPart) }
    },
    () => null,
  )
}

async function whyNotReplayable(engine: Engine, queue: KnownQueue, rootId: number): Promise<ReplayEnd> {
  const chain = await readChain(engine, queue, rootId)
  if (chain === null) return { status: 'not_found' }
  if (isDamaged(chain)) return { status: 'damaged' }
  return chain.replayedAs === null
    ? { status: 'not_dead_lettered' }
    : { status: 'already_replayed', jobId: chain.replayedAs }
}
