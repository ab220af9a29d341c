import { LEASE_MS } from '../../../domain/limits.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { jobIndexOf } from './indexed-job.ts'

export const PURGE = step('purge', import.meta.url, {
  keys: ['clock', 'executors', 'teamUsage'],
  queueKeys: ['deadLetters', 'deadLetterRecords', 'payloads', 'meta'],
  args: ['leaseMs', 'localId', 'onlyDue'],
  rows: { letters: { keys: ['jobIndex'], args: ['root', 'seq', 'field'] } },
})

/** Removes dead letters for good: those of `roots`, with `onlyDue` those past their retention. Answers how many. */
export async function purgeDeadLetters(
  engine: Engine,
  keys: ShardKeys,
  { localId, roots, onlyDue }: { localId: string; roots: readonly string[]; onlyDue: boolean },
): Promise<number> {
  if (roots.length === 0) return 0
  const letters = roots.map((root) => ({
    root,
    seq: engine.jobIds.seqOf(Number(root)),
    ...jobIndexOf(engine, keys, Number(root)),
  }))
  return (await engine.runner.run(
    PURGE.with({ keys, leaseMs: LEASE_MS, localId, onlyDue: onlyDue ? 1 : 0, letters }),
  )) as number
}
