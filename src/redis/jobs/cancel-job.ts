import type { Actor } from '../../domain/access/audit-record.ts'
import type { JobStore } from '../../ports/jobs.ts'
import { readChain } from '../chains/chain-reader.ts'
import { isDamaged } from '../chains/damaged-chain.ts'
import type { KnownQueue } from '../chains/known-queue.ts'
import type { Engine } from '../client/engine.ts'
import { step } from '../client/step.ts'
import { indexPlace } from '../layout/keys.ts'
import { AUDIT_ARGS, audited } from '../audit-log/audit-entry.ts'
import { purgeDeadLetters } from '../retention/dead-letters.ts'

export const CANCEL = step('cancel', import.meta.url, {
  keys: [
    ...(['nearSet', 'minutes', 'settings', 'settingsUses', 'jobIndex'] as const),
    ...(['teamUsage', 'shardUsage', 'suspects', 'ring', 'teams', 'auditLog'] as const),
  ],
  queueKeys: ['meta', 'ready', 'records', 'inFlight', 'payloads'],
  args: ['localId', 'jobId', 'seq', 'indexField', ...AUDIT_ARGS],
})

/** Throws StoreUnavailableError. */
export async function cancelJob(
  engine: Engine,
  queue: KnownQueue,
  { jobId, actor }: { readonly jobId: number; readonly actor: Actor },
): ReturnType<JobStore['cancel']> {
  const { keys, localId } = queue
  const { jobIds } = engine
  const seq = jobIds.seqOf(jobId)
  const { block, field } = indexPlace(seq)
  const resource = { kind: 'job', id: jobId, name: queue.name } as const
  const entry = { actor, action: 'cancel', resource, before: null, after: null }
  const answer = await engine.runner.run(
    CANCEL.with({
      ...{ keys, localId, jobId, seq, indexField: field },
      jobIndex: keys.jobIndex(block),
      ...audited(engine, keys, { team: queue.team, entry }),
    }),
  )
  if (answer !== 'not_pending') return answer as 'cancelled' | 'in_flight'
  const rootId = jobIds.rootOf(jobId)
  const chain = await readChain(engine, queue, rootId)
  if (chain !== null && isDamaged(chain)) {
    // A damaged job that was quarantined is a dead letter. A damaged finished chain stays until its retention is over.
    const purged = await purgeDeadLetters(engine, keys, {
      ...{ localId, roots: [String(rootId)], onlyDue: false },
    })
    if (purged > 0) return 'cancelled'
  }
  return jobIds.attemptOf(jobId) <= (chain?.attempts.length ?? 0) ? 'ended' : 'not_found'
}
