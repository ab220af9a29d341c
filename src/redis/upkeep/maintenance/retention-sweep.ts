import { LEASE_MS, REAP_BATCH_MAX, TRIM_BATCH_MAX } from '../../../domain/limits.ts'
import type { SetAside } from '../../../domain/set-aside.ts'
import { forgetAlerts } from '../../ledger/alerts/forget-alerts.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { purgeDeadLetters } from '../../ledger/retention/dead-letters.ts'
import { chainEndMs, trimFinished } from '../../jobs/history/finished-chains.ts'
import { sealHistory } from '../../jobs/history/sealer.ts'
import { settleEach } from '../../ledger/retention/settle-each.ts'
import { emptyTrash } from '../../ledger/retention/trash.ts'

export const RESCHEDULE = step('reschedule', import.meta.url, {
  keys: ['clock', 'executors', 'retentionDue'],
  queueKeys: ['deadLetters', 'history'],
  args: ['leaseMs', 'localId', 'chainsDueMs', 'retryMs'],
})

const MEMBERS_PAGE = 16
/** Delay before a queue is read again whose history changed since it was read. */
const RETRY_MS = 60_000

/**
 * Forgets one page of everything in `retentionDue` that is due: dead letters past their retention, old chains, old
 * alerts, trash.
 * Answers whether more is due.
 */
export async function sweepRetention(engine: Engine, keys: ShardKeys, setAside: SetAside): Promise<boolean> {
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const due = await engine.runner.read((redis) =>
    redis.zrangebyscore(keys.retentionDue, '-inf', nowMs, 'LIMIT', 0, MEMBERS_PAGE),
  )
  let isMore = due.length === MEMBERS_PAGE
  await settleEach(due, {
    setAside,
    nameOf: (member) => ({ shard: keys.shard, member }),
    run: async (member) => {
      const hasMore = await sweepMember(engine, keys, member)
      isMore ||= hasMore
    },
  })
  return isMore
}

/** `t` and a queue = its trash; `a` and a team = its alerts; else a queue. */
function sweepMember(engine: Engine, keys: ShardKeys, member: string): Promise<boolean> {
  if (member.startsWith('t')) return emptyTrash(engine, keys, member.slice(1))
  if (member.startsWith('a')) return forgetAlerts(engine, keys, { team: member.slice(1) })
  return sweepQueue(engine, keys, member)
}

async function sweepQueue(engine: Engine, keys: ShardKeys, localId: string): Promise<boolean> {
  const { deadLetters, history, summaries } = keys.queue(localId)
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const roots = await engine.runner.read((redis) =>
    redis.zrangebyscore(deadLetters, '-inf', nowMs, 'LIMIT', 0, REAP_BATCH_MAX),
  )
  const purged = await purgeDeadLetters(engine, keys, { localId, roots, onlyDue: true })
  const trimmed = await trimFinished(engine, keys, localId)
  if (purged === REAP_BATCH_MAX || trimmed === TRIM_BATCH_MAX) return true
  // A history that loses as much as it gains never seems to grow.
  await sealHistory(engine, keys, localId)
  const [oldest] = await engine.runner.read((redis) => redis.lrange(history, -1, -1))
  const summary =
    oldest === undefined ? null : await engine.runner.read((redis) => redis.hget(summaries, oldest))
  const chainsDueMs = summary === null ? '' : chainEndMs(summary) + engine.retention.finishedChainsMs
  await engine.runner.run(
    RESCHEDULE.with({ keys, leaseMs: LEASE_MS, localId, chainsDueMs, retryMs: RETRY_MS }),
  )
  return false
}
