import type { Actor } from '../../domain/access/audit-record.ts'
import { LEASE_MS, STORE_DEADLINE_MS } from '../../domain/limits.ts'
import type { JobStore } from '../../ports/jobs.ts'
import { AUDIT_ARGS, audited, DONE } from '../audit-log/audit-entry.ts'
import { readChain } from '../chains/chain-reader.ts'
import type { KnownQueue } from '../chains/known-queue.ts'
import { hintWake, type Engine } from '../client/engine.ts'
import { step } from '../client/step.ts'

export const FIRE = step('fire', import.meta.url, {
  keys: [
    ...(['clock', 'executors', 'nearSet', 'minutes', 'ring', 'teams'] as const),
    ...(['teamUsage', 'auditLog', 'auditCounts'] as const),
  ],
  queueKeys: ['meta', 'ready', 'records', 'inFlight'],
  args: ['leaseMs', 'localId', 'jobId', 'asked', ...AUDIT_ARGS],
})

const RESEND_MS = STORE_DEADLINE_MS / 2
/** How far the estimate of the time in Redis may be ahead. A job that became due within it counts as fired. */
const ESTIMATE_SLACK_MS = 1_000

type FireAnswer = 'fired' | 'fired_before' | 'due' | 'in_flight' | 'not_pending' | 'damaged'

/** Throws StoreUnavailableError. */
export async function fireJob(
  engine: Engine,
  queue: KnownQueue,
  { jobId, actor }: { readonly jobId: number; readonly actor: Actor },
): ReturnType<JobStore['fire']> {
  const { keys, localId } = queue
  const { jobIds, runner } = engine
  const resource = { kind: 'job', id: jobId, name: queue.name } as const
  const entry = { actor, action: 'fire', resource, before: null, after: null } as const
  const call = FIRE.with({
    ...{ keys, localId, jobId, leaseMs: LEASE_MS },
    asked: runner.redisNowMs(keys.shard) - ESTIMATE_SLACK_MS,
    ...audited(engine, keys, { team: queue.team, entry }),
  })
  const [answer, woken] = (await runner.run(call, RESEND_MS)) as [FireAnswer, number]
  // Where the first answer was lost, only this tells that it was fired.
  if (answer === 'fired' || answer === 'fired_before') engine.auditLines.note(queue.team, entry, DONE)
  if (woken > 0) hintWake(engine, keys.shard)
  if (answer === 'due' || answer === 'in_flight' || answer === 'damaged') return { status: answer }
  const rootId = jobIds.rootOf(jobId)
  const chain = await readChain(engine, queue, rootId)
  if (chain === null) return { status: 'not_found' }
  if (answer !== 'not_pending') return { status: 'fired', chain }
  if (jobIds.attemptOf(jobId) > chain.attempts.length) return { status: 'not_found' }
  if (chain.open === null) return { status: 'ended' }
  return { status: 'not_ended', jobId: jobIds.idOf(keys.shard, jobIds.seqOf(jobId), chain.open.attempt) }
}
