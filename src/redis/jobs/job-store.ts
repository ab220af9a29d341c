import type { CostGate } from '../../domain/shares/cost-gate.ts'
import type { JobStore } from '../../ports/jobs.ts'
import { readChain } from '../ledger/chain-reader.ts'
import { listBulkJobs } from './bulk/outcome/bulk-jobs.ts'
import { knownQueue, type KnownQueue } from '../base/names/known-queue.ts'
import { shardKeys, type Engine } from '../base/engine/engine.ts'
import { indexPlace } from '../base/layout/keys.ts'
import { readForReplay, readForRetry } from './mending/ended-chain.ts'
import { cancelJob, fireJob, removeJob } from './mending/mend-job.ts'
import { createRemake } from './mending/remake-job.ts'
import type { QuotaKeeper } from '../ledger/quotas/quota-keeper.ts'
import { groupDeadLetters } from './search/dead-letter-groups.ts'
import { listJobs } from './search/job-pages.ts'

/**
 * @param quotas absent = there are no quotas for retries and replays
 * @param gate the one that costly requests of the process share; absent = searches do not wait for a turn
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
    list: (query) => {
      const bulkId = query.filter.bulkId ?? null
      return bulkId === null ? listJobs(engine, query, gate) : listBulkJobs(engine, { ...query, bulkId })
    },
    deadLetterGroups: (query) => groupDeadLetters(engine, query, gate),
    remove: async (team, jobId, actor, mayPurge) => {
      const queue = await queueOfJob(engine, team, jobId)
      return queue === null ? NOT_FOUND : removeJob(engine, queue, { jobId, actor, mayPurge })
    },
    cancel: async (team, jobId, actor) => {
      const queue = await queueOfJob(engine, team, jobId)
      return queue === null ? NOT_FOUND : cancelJob(engine, queue, { jobId, actor })
    },
    fire: async (team, jobId, actor) => {
      const queue = await queueOfJob(engine, team, jobId)
      return queue === null ? NOT_FOUND : fireJob(engine, queue, { jobId, actor })
    },
    retry: async (team, jobId, actor, callDepth = 0) => {
      const queue = await queueOfJob(engine, team, jobId)
      if (queue === null) return NOT_FOUND
      const rootId = engine.jobIds.rootOf(jobId)
      const asked = { jobId, actor, action: 'retry', changed: [] } as const
      return remake(queue, asked, () => readForRetry(engine, { jobId, rootId, queue }, callDepth))
    },
    replay: async (team, jobId, actor, { change = {}, callDepth = 0 } = {}) => {
      const queue = await queueOfJob(engine, team, jobId)
      if (queue === null) return NOT_FOUND
      const rootId = engine.jobIds.rootOf(jobId)
      const asked = { jobId, actor, action: 'replay', changed: Object.keys(change) } as const
      return remake(queue, asked, () =>
        readForReplay(engine, { jobId, rootId, queue }, { change, callDepth }),
      )
    },
  }
}

const NOT_FOUND = { status: 'not_found' } as const

/** Finds the queue that holds the job's chain; null = it is unknown, deleted or of another team. */
async function queueOfJob(engine: Engine, team: string, jobId: number): Promise<KnownQueue | null> {
  const keys = shardKeys(engine, engine.jobIds.shardOf(jobId))
  const { block, field } = indexPlace(engine.jobIds.seqOf(jobId))
  const localId = await engine.runner.read((redis) => redis.hget(keys.jobIndex(block), field))
  if (localId === null) return null
  const queue = await knownQueue(engine, keys, localId)
  return queue !== null && queue.team === team ? queue : null
}
