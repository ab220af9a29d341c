import type { Actor } from '../../../domain/access/audit-record.ts'
import { LEASE_MS, STORE_DEADLINE_MS } from '../../../domain/limits.ts'
import type { JobStore } from '../../../ports/jobs.ts'
import { DONE } from '../../ledger/audit-log/audit-entry.ts'
import { readChain } from '../../ledger/chain-reader.ts'
import type { KnownQueue } from '../../base/names/known-queue.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { headOfOne, rowsOf, sendOne } from './pages/page-rows.ts'
import { DELETE_PAGE, OPEN_PAGE } from './pages/page-steps.ts'

const RESEND_MS = STORE_DEADLINE_MS / 2
/** The estimate of the time in Redis may be ahead by this much. A job that became due within it counts as fired. */
const ESTIMATE_SLACK_MS = 1_000

/** Makes a delayed job due now. Throws StoreUnavailableError. */
export async function fireJob(
  engine: Engine,
  queue: KnownQueue,
  { jobId, actor }: { readonly jobId: number; readonly actor: Actor },
): ReturnType<JobStore['fire']> {
  const { keys, team } = queue
  const rootId = engine.jobIds.rootOf(jobId)
  const resource = { kind: 'job', id: jobId, name: queue.name } as const
  const entry = { actor, action: 'fire', resource, before: null, after: null } as const
  const call = OPEN_PAGE.with({
    ...headOfOne(engine, queue, entry),
    ...rowsOf(engine, keys, [{ jobId, rootId, queue }]),
    leaseMs: LEASE_MS,
    action: 'fire',
    askedMs: engine.runner.redisNowMs(keys.shard) - ESTIMATE_SLACK_MS,
  })
  const { answer } = await sendOne(engine, queue, { call, resendForMs: RESEND_MS })
  if (answer === 'already_due') return { status: 'due' }
  if (answer === 'in_flight' || answer === 'damaged') return { status: answer }
  if (answer !== 'fired' && answer !== 'fired_before') return whyNotOpen(engine, queue, jobId)
  // If the first answer was lost, only `fired_before` tells that the job was fired.
  engine.auditLines.note(team, entry, DONE)
  const chain = await readChain(engine, queue, rootId)
  return chain === null ? { status: 'not_found' } : { status: 'fired', chain }
}

/**
 * Removes a pending job that was never sent, and answers its chain as it was. The step decides, so that no executor can
 * begin its call meanwhile. Throws StoreUnavailableError.
 */
export async function cancelJob(
  engine: Engine,
  queue: KnownQueue,
  { jobId, actor }: { readonly jobId: number; readonly actor: Actor },
): ReturnType<JobStore['cancel']> {
  const { keys, team } = queue
  const rootId = engine.jobIds.rootOf(jobId)
  const chain = await readChain(engine, queue, rootId)
  const resource = { kind: 'job', id: jobId, name: queue.name } as const
  const entry = { actor, action: 'cancel', resource, before: null, after: null } as const
  const call = OPEN_PAGE.with({
    ...headOfOne(engine, queue, entry),
    ...rowsOf(engine, keys, [{ jobId, rootId, queue }]),
    leaseMs: LEASE_MS,
    action: 'cancel_unsent',
    askedMs: '',
  })
  const { answer } = await sendOne(engine, queue, { call, resendForMs: 0 })
  if (answer === 'in_flight' || answer === 'damaged' || answer === 'sent') return { status: answer }
  if (answer !== 'cancelled' || chain === null) return whyNotOpen(engine, queue, jobId)
  engine.auditLines.note(team, entry, DONE)
  return { status: 'cancelled', chain }
}

/** Removes a pending job; with `mayPurge` also a chain that has ended. Throws StoreUnavailableError. */
export async function removeJob(
  engine: Engine,
  queue: KnownQueue,
  { jobId, actor, mayPurge }: { readonly jobId: number; readonly actor: Actor; readonly mayPurge: boolean },
): ReturnType<JobStore['remove']> {
  const { keys, team } = queue
  const rootId = engine.jobIds.rootOf(jobId)
  const resource = { kind: 'job', id: jobId, name: queue.name } as const
  const entry = { actor, action: 'delete', resource, before: null, after: null } as const
  const page = {
    ...headOfOne(engine, queue, entry),
    ...rowsOf(engine, keys, [{ jobId, rootId, queue }]),
    leaseMs: LEASE_MS,
  }
  const call = mayPurge
    ? DELETE_PAGE.with({ ...page, shards: engine.shards.length })
    : OPEN_PAGE.with({ ...page, action: 'cancel', askedMs: '' })
  const { answer } = await sendOne(engine, queue, { call, resendForMs: 0 })
  if (answer === 'in_flight') return { status: answer }
  if (answer !== 'cancelled') return whyNotOpen(engine, queue, jobId)
  engine.auditLines.note(team, entry, DONE)
  return { status: 'removed' }
}

/** Says why nothing that is open, or with `mayPurge` nothing at all, has this id. */
async function whyNotOpen(engine: Engine, queue: KnownQueue, jobId: number) {
  const { jobIds } = engine
  const chain = await readChain(engine, queue, jobIds.rootOf(jobId))
  if (chain === null || jobIds.attemptOf(jobId) > chain.attempts.length)
    return { status: 'not_found' } as const
  if (chain.open === null) return { status: 'ended' } as const
  const openId = jobIds.idOf(queue.keys.shard, jobIds.seqOf(jobId), chain.open.attempt)
  return { status: 'not_ended', jobId: openId } as const
}
