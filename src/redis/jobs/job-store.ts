import type { CostGate } from '../../domain/shares/cost-gate.ts'
import type { JobStore } from '../../ports/jobs.ts'
import { readChain } from '../chains/chain-reader.ts'
import { knownQueue, type KnownQueue } from '../chains/known-queue.ts'
import { shardKeys, type Engine } from '../client/engine.ts'
import { indexPlace } from '../layout/keys.ts'
import { readForReplay, readForRetry } from '../mending/ended-chain.ts'
import { fireJob } from '../mending/fire-job.ts'
import { createRemake } from '../mending/remake-job.ts'
import { removeJob } from '../mending/remove-job.ts'
import type { QuotaKeeper } from '../quotas/quota-keeper.ts'
import { groupDeadLetters } from '../search/dead-letter-groups.ts'
import { listJobs } from '../search/job-pages.ts'

/**
 * @param quotas absent = no quotas for retries and replays
 * @param gate shared with other costly requests of the process; absent = searches do not wait for a turn
 */
export function createJobStore(
  engine: Engine,
  quotas: QuotaKeeper | null = null,
  gate: CostGate | null = null,
): JobStore {
  const remake = createRemake(engine, quotas)
  return {
    get: async (team, jobId) => {
      const queue = await queueOfJob(engine, team, jobId)
      return queue === null ? null : readChain(engine, queue, engine.jobIds.rootOf(jobId))
    },
    list: (query) => listJobs(engine, query, gate),
    deadLetterGroups: (query) => groupDeadLetters(engine, query, gate),
    remove: async (team, jobId, actor, mayPurge) => {
      const queue = await queueOfJob(engine, team, jobId)
      return queue === null ? NOT_FOUND : removeJob(engine, queue, { jobId, actor, mayPurge })
    },
    fire: async (team, jobId, actor) => {
      const queue = await queueOfJob(engine, team, jobId)
      return queue === null ? NOT_FOUND : fireJob(engine, queue, { jobId, actor })
    },
    retry: async (team, jobId, actor, callDepth = 0) => {
      const queue = await queueOfJob(engine, team, jobId)
      if (queue === null) return NOT_FOUND
      const asked = { jobId, actor, action: 'retry', changed: [] } as const
      return remake(queue, asked, () => readForRetry(engine, queue, { jobId, callDepth }))
    },
    replay: async (team, jobId, actor, { change = {}, callDepth = 0 } = {}) => {
      const queue = await queueOfJob(engine, team, jobId)
      if (queue === null) return NOT_FOUND
      const asked = { jobId, actor, action: 'replay', changed: Object.keys(change) } as const
      return remake(queue, asked, () => readForReplay(engine, queue, { jobId, change, callDepth }))
    },
  }
}

const NOT_FOUND = { status: 'not_found' } as const

/** The queue that holds the job's chain; null when unknown, deleted or of another team. */
async function queueOfJob(engine: Engine, team: string, jobId: number): Promise<KnownQueue | null> {
  const keys = shardKeys(engine, engine.jobIds.shardOf(jobId))
  const { block, field } = indexPlace(engine.jobIds.seqOf(jobId))
  const localId = await engine.runner.read((redis) => redis.hget(keys.jobIndex(block), field))
  if (localId === null) return null
  const queue = await knownQueue(engine, keys, localId)
  return queue !== null && queue.team === team ? queue : null
}
