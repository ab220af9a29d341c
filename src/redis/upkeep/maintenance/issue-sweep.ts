import { hostOf } from '../../../domain/jobs/job-match.ts'
import type { SetAside } from '../../../domain/set-aside.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { decodeFinished, type FinishedRecord } from '../../base/layout/finished-record.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { tendIssues, type RecoveredFinder } from '../../ledger/issues/tend-issues.ts'
import { settleEach } from '../../ledger/retention/settle-each.ts'

const TEAMS_PAGE = 4
/** Finished chains of a queue that are looked at for a success, newest first: the host of an issue may be one of many. */
const LOOKED_AT_MAX = 1_000
const CHAINS_PAGE = 200

/** Tends the issues of the teams that are due. Answers whether more is due. */
export async function sweepIssues(engine: Engine, keys: ShardKeys, setAside: SetAside): Promise<boolean> {
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const due = await engine.runner.read((redis) =>
    redis.zrangebyscore(keys.issuesDue, '-inf', nowMs, 'LIMIT', 0, TEAMS_PAGE),
  )
  let isMore = due.length === TEAMS_PAGE
  await settleEach(due, {
    setAside,
    nameOf: (team) => ({ shard: keys.shard, member: `issues of ${team}` }),
    run: async (team) => {
      const hasMore = await tendIssues(engine, keys, { team, recovered: recoveredIn(engine, keys) })
      isMore ||= hasMore
    },
  })
  return isMore
}

/** Looks for successes in the history of the queue, so that no success has to be noted when it happens. */
function recoveredIn(engine: Engine, keys: ShardKeys): RecoveredFinder {
  return async (localId, issues) => {
    const { history, summaries } = keys.queue(localId)
    const found = issues.map(() => false)
    const oldestMs = Math.min(...issues.map(({ lastAtMs }) => lastAtMs))
    for (let from = 0; from < LOOKED_AT_MAX; from += CHAINS_PAGE) {
      const roots = await engine.runner.read((redis) => redis.lrange(history, from, from + CHAINS_PAGE - 1))
      if (roots.length === 0) return found
      const texts = await engine.runner.read((redis) => redis.hmget(summaries, ...roots))
      let endMs = Number.POSITIVE_INFINITY
      for (const text of texts) {
        const success = text === null ? null : successIn(text)
        if (success === null) continue
        endMs = success.endMs
        issues.forEach(({ host, lastAtMs }, i) => {
          // Failures that had no room for their host are over when anything succeeds.
          if (endMs > lastAtMs && (host === null || host === success.host)) found[i] = true
        })
      }
      if (endMs <= oldestMs || roots.length < CHAINS_PAGE || found.every(Boolean)) return found
    }
    return found
  }
}

/** When and where a chain succeeded; null = it did not, or its summary is damaged. */
function successIn(text: string): { readonly endMs: number; readonly host: string } | null {
  const chain = readable(text)
  const endMs = chain?.end === 'success' ? (chain.attempts.at(-1)?.completedAtMs ?? null) : null
  return chain === null || endMs === null ? null : { endMs, host: hostOf(chain.request.url) }
}

function readable(text: string): FinishedRecord | null {
  try {
    return decodeFinished(text)
  } catch {
    return null
  }
}
