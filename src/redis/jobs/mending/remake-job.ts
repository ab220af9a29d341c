import type { Actor, AuditEntry } from '../../../domain/access/audit-record.ts'
import { StorageFullError, StoreUnavailableError } from '../../../domain/errors.ts'
import { STORE_DEADLINE_MS } from '../../../domain/limits.ts'
import type { RemadeJob } from '../../../ports/jobs.ts'
import type { MetQuota } from '../../../ports/quotas.ts'
import { DONE } from '../../ledger/audit-log/audit-entry.ts'
import type { KnownQueue } from '../../base/names/known-queue.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { queueIdOf } from '../../base/layout/keys.ts'
import type { QuotaKeeper } from '../../ledger/quotas/quota-keeper.ts'
import type { NotRemade } from './ended-chain.ts'
import { headOfOne, sendOne } from './pages/page-rows.ts'
import { createRemaker, type Remaking } from './remaker.ts'

/**
 * A job is tried at most this many times when the process lost its id block, a quota was read anew, or the chain
 * changes.
 */
const TRIES_MAX = 4
const RESEND_MS = STORE_DEADLINE_MS / 2

/** Who asks, and for what. */
interface Asked {
  readonly jobId: number
  readonly actor: Actor
  readonly action: 'replay' | 'retry'
  /** The names of the fields that differ, for the audit log. */
  readonly changed: readonly string[]
}

export type Remake = (
  queue: KnownQueue,
  asked: Asked,
  read: () => Promise<Remaking | NotRemade>,
) => Promise<RemadeJob>

/**
 * Makes new jobs of ended chains, one at a time. `read` is called again when the chain has changed meanwhile. Throws
 * StoreUnavailableError and StorageFullError.
 */
export function createRemake(engine: Engine, quotas: QuotaKeeper | null): Remake {
  const remaker = createRemaker(engine, quotas)
  return async (queue, asked, read) => {
    const { keys, team, localId } = queue
    const { jobId, action } = asked
    let isLastTry = quotas === null
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const remaking = await read()
      if ('status' in remaking) return remaking
      const [newSeq = 0] = await remaker.take(keys.shard, 1, RESEND_MS)
      const newJobId = engine.jobIds.idOf(keys.shard, newSeq, 1)
      const entry = entryOf(queue, asked, newJobId)
      const jobs = [{ jobId, rootId: engine.jobIds.rootOf(jobId), queue, remaking, newSeq }]
      const head = headOfOne(engine, queue, entry)
      const call = await remaker.pageOf({ head, team, action, jobs, isLastTry })
      const { answer, detail } = await sendOne(engine, queue, { call, resendForMs: RESEND_MS })
      if (answer === 'foreign_block') remaker.dropBlocks(keys.shard)
      if (answer === 'made' || answer === 'made_before') {
        engine.auditLines.note(team, entry, DONE)
        const queueId = queueIdOf(localId, keys.shard, engine.shards.length)
        return { status: 'made', jobId: newJobId, queueId, scheduledAtMs: Number(detail) }
      }
      if (answer === 'queue_draining') return { status: answer, queue: queue.name }
      // Any other answer means that the block was another's, or that the chain is not what was read of it.
      if (answer !== 'over_quota') continue
      if (isLastTry || quotas?.isWorthAnotherReading(team) !== true) return overQuota(engine, detail)
      isLastTry = true
    }
    throw new StoreUnavailableError('The chain keeps changing while a job is made of it')
  }
}

function overQuota(engine: Engine, bound: string): RemadeJob {
  if (bound === 'room') throw new StorageFullError()
  const quota = bound as MetQuota
  engine.metrics.refusedByQuota(quota)
  return { status: 'over_quota', quota }
}

function entryOf(queue: KnownQueue, { jobId, actor, action, changed }: Asked, newJobId: number): AuditEntry {
  const resource = { kind: 'job', id: jobId, name: queue.name } as const
  const after = { job_id: newJobId, ...(changed.length === 0 ? {} : { changed }) }
  return { actor, action, resource, before: null, after }
}
