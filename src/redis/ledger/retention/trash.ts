import { PROMOTE_BATCH_MAX } from '../../../domain/limits.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { jobIndexOf } from './indexed-job.ts'

const PARTS = ['trashedRecords', 'trashedSummaries', 'trashedDeadLetterRecords'] as const

export const EMPTY_TRASH = step('empty_trash', import.meta.url, {
  keys: ['retentionDue', 'settings', 'settingsUses', 'teamUsage', 'shardUsage'],
  queueKeys: [...PARTS, 'trashedPayloads'],
  args: ['localId'],
  rows: { entries: { keys: ['part', 'jobIndex'], args: ['jobId', 'seq', 'field'] } },
})

/** Forgets one page of a deleted queue's remains. Answers whether something is left. */
export async function emptyTrash(engine: Engine, keys: ShardKeys, localId: string): Promise<boolean> {
  const entries = []
  for (const name of PARTS) {
    const part = keys.queueKey(name, localId)
    const count = PROMOTE_BATCH_MAX - entries.length
    if (count <= 0) break
    const ids = (await engine.runner.read((redis) => redis.hrandfield(part, count))) as string[] | null
    for (const jobId of ids ?? []) {
      const seq = engine.jobIds.seqOf(Number(jobId))
      entries.push({ part, jobId, seq, ...jobIndexOf(engine, keys, Number(jobId)) })
    }
  }
  return (await engine.runner.run(EMPTY_TRASH.with({ keys, localId, entries }))) === 1
}
