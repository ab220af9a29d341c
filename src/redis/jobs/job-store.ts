import type { JobStore } from '../../ports/jobs.ts'
import { readChain } from '../chains/chain-reader.ts'
import { knownQueue, type KnownQueue } from '../chains/known-queue.ts'
import { shardKeys, type Engine } from '../client/engine.ts'
import { indexPlace } from '../layout/keys.ts'
import { cancelJob } from './cancel-job.ts'
import { listJobs } from '../search/job-pages.ts'
import { SearchTurns } from '../search/search-turns.ts'
import { createReplay } from './replay-job.ts'

export function createJobStore(engine: Engine): JobStore {
  const replay = createReplay(engine)
  const turns = new SearchTurns()
  return {
    get: async (team, jobId) => {
      const queue = await queueOfJob(engine, team, jobId)
      return queue === null ? null : readChain(engine, queue, engine.jobIds.rootOf(jobId))
    },
    list: (query) => listJobs(engine, query, turns),
    cancel: async (team, jobId, actor) => {
      const queue = await queueOfJob(engine, team, jobId)
      return queue === null ? 'not_found' : cancelJob(engine, queue, { jobId, actor })
    },
    replay: async (team, jobId, actor) => {
      const queue = await queueOfJob(engine, team, jobId)
      return queue === null ? { status: 'not_found' } : replay(queue, { jobId, actor })
    },
  }
}

/** The queue that holds the job's chain; null when unknown, deleted or of another team. */
async function queueOfJob(engine: Engine, team: string, jobId: number): Promise<KnownQueue | null> {
  const keys = shardKeys(engine, engine.jobIds.shardOf(jobId))
  const { block, field } = indexPlace(engine.jobIds.seqOf(jobId))
  const localId = await engine.runner.read((redis) => redis.hget(keys.jobIndex(block), field))
  if (localId === null) return null
  const queue = await knownQueue(engine, keys, localId)
  return queue !== null && queue.team === team ? queue : null
}
