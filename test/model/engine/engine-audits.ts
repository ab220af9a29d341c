import type { Redis } from 'ioredis'
import { AUDIT_RETENTION_DAYS } from '../../../src/domain/limits.ts'
import type { ShardKeys } from '../../../src/redis/base/layout/keys.ts'
import type { EngineModel } from './engine-model.ts'

const DAY_MS = 86_400_000

/**
 * Says how the audit log differs from what somebody has asked for and got, once each. What was done within a minute may be
 * one entry, so only how often each act was done to jobs is compared.
 */
export async function auditDifferences(
  client: Redis,
  shards: readonly ShardKeys[],
  model: EngineModel,
): Promise<string[]> {
  const found: string[] = []
  for (const keys of shards) {
    for (const [team, audits] of model.shard(keys.shard).audits) {
      const entries = await client.xrange(keys.deedLog(team), '-', '+')
      const counts = await client.hgetall(keys.deedCounts(team))
      // The oldest go after their retention, with the next entry.
      const newestMs = audits.at(-1)?.atMs ?? 0
      const real = entries
        .filter(([id]) => !isOld(Number(id.slice(0, id.indexOf('-'))), newestMs))
        .flatMap(([id, [, text = '']]) =>
          Array.from({ length: Number.parseInt(counts[id] ?? '1', 10) }, () => textIn(text)),
        )
      const expected = audits
        .filter(({ atMs }) => !isOld(atMs, newestMs))
        .map(({ action }) => `done ${action}`)
      const [is, wanted] = [real.toSorted().join(', '), expected.toSorted().join(', ')]
      if (is !== wanted) found.push(`audit log of ${team}: Redis has [${is}], the model [${wanted}]`)
    }
  }
  return found
}

function isOld(atMs: number, newestMs: number): boolean {
  return newestMs - atMs >= (AUDIT_RETENTION_DAYS - 1) * DAY_MS
}

/** An entry as it is stored: the outcome, then an array with the action at 4. */
function textIn(entry: string): string {
  const fields = JSON.parse(entry.slice(1)) as unknown[]
  return `${entry.startsWith('d') ? 'done' : entry[0]} ${String(fields[4])}`
}
