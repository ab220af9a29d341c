import type { Actor } from '../../domain/access/audit-record.ts'
import { LEASE_MS } from '../../domain/limits.ts'
import type { JobStore } from '../../ports/jobs.ts'
import { AUDIT_ARGS, audited, DONE } from '../audit-log/audit-entry.ts'
import { readChain } from '../chains/chain-reader.ts'
import type { KnownQueue } from '../chains/known-queue.ts'
import type { Engine } from '../client/engine.ts'
import { step } from '../client/step.ts'
import { indexPlace } from '../layout/keys.ts'

export const REMOVE_JOB = step('remove_job', import.meta.url, {
  keys: [
    ...(['clock', 'executors', 'nearSet', 'minutes', 'settings', 'settingsUses', 'jobIndex'] as const),
    ...([
      'teamUsage',
      'shardUsage',
      'suspects',
      'ring',
      'teams',
      'oldestCalls',
      'auditLog',
      'auditCounts',
    ] as const),
    'sealedHistories',
  ],
  queueKeys: [
    ...(['meta', 'ready', 'records', 'inFlight', 'payloads', 'deadLetters', 'deadLetterRecords'] as const),
    ...(['history', 'blocks', 'summaries', 'callRecords', 'failedCalls', 'successfulCalls'] as const),
  ],
  args: ['leaseMs', 'localId', 'jobId', 'rootId', 'seq', 'indexField', 'mayPurge', 'shards', ...AUDIT_ARGS],
})

/** Throws StoreUnavailableError. */
export async function removeJob(
  engine: Engine,
  queue: KnownQueue,
  { jobId, actor, mayPurge }: { readonly jobId: number; readonly actor: Actor; readonly mayPurge: boolean },
): ReturnType<JobStore['remove']> {
  const { keys, localId } = queue
  const { jobIds } = engine
  const seq = jobIds.seqOf(jobId)
  const rootId = jobIds.rootOf(jobId)
  const { block, field } = indexPlace(seq)
  const resource = { kind: 'job', id: jobId, name: queue.name } as const
  const entry = { actor, action: 'delete', resource, before: null, after: null } as const
  const answer = await engine.runner.run(
    REMOVE_JOB.with({
      ...{ keys, leaseMs: LEASE_MS, localId, jobId, rootId, seq, indexField: field },
      jobIndex: keys.jobIndex(block),
      mayPurge: mayPurge ? 1 : 0,
      shards: engine.shards.length,
      ...audited(engine, keys, { team: queue.team, entry }),
    }),
  )
  if (answer === 'in_flight') return { status: answer }
  if (answer !== 'not_pending') {
    engine.auditLines.note(queue.team, entry, DONE)
    return { status: 'removed' }
  }
  const chain = await readChain(engine, queue, rootId)
  if (chain === null || jobIds.attemptOf(jobId) > chain.attempts.length) return { status: 'not_found' }
  if (chain.open === null) return { status: 'ended' }
  return { status: 'not_ended', jobId: jobIds.idOf(keys.shard, seq, chain.open.attempt) }
}
