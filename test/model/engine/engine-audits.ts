import type { Redis } from 'ioredis'
import { AUDIT_RETENTION_DAYS } from '../../../src/domain/limits.ts'
import type { ShardKeys } from '../../../src/redis/layout/keys.ts'
import type { EngineModel } from './engine-model.ts'
import type { ModelAudit } from './model-records.ts'

const DAY_MS = 86_400_000

/** Says how the audit log differs from what somebody has asked for and got, once each and in that order. */
export async function auditDifferences(
  client: Redis,
  shards: readonly ShardKeys[],
  model: EngineModel,
): Promise<string[]> {
  const found: string[] = []
  for (const keys of shards) {
    for (const [team, audits] of model.shard(keys.shard).audits) {
      const entries = await client.xrange(keys.auditLog(team), '-', '+')
      const real = entries.map(([, [, text = '']]) => textIn(text))
      // The oldest go after their retention, with the next entry.
      const newestMs = audits.at(-1)?.atMs ?? 0
      const kept = audits.filter(({ atMs }, i) => i >= audits.length - real.length || !isOld(atMs, newestMs))
      const expected = kept.map(textOf)
      if (real.join(' ') !== expected.join(' '))
        found.push(`audit log of ${team}: Redis has [${real.join(' ')}], the model [${expected.join(' ')}]`)
    }
  }
  return found
}

function isOld(atMs: number, newestMs: number): boolean {
  return newestMs - atMs >= (AUDIT_RETENTION_DAYS - 1) * DAY_MS
}

function textOf({ action, jobId }: ModelAudit): string {
  return `done ${action} of ${jobId}`
}

/** An entry as it is stored: the outcome, then an array with the action at 4 and the id at 6. */
function textIn(entry: string): string {
  const fields = JSON.parse(entry.slice(1)) as unknown[]
  return `${entry.startsWith('d') ? 'done' : entry[0]} ${String(fields[4])} of ${String(fields[6])}`
}
