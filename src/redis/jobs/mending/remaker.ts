import { randomBytes } from 'node:crypto'
import type { JobRequest } from '../../../domain/jobs/job.ts'
import { LEASE_MS } from '../../../domain/limits.ts'
import { packCeilings } from '../../ledger/quotas/ceiling-rows.ts'
import type { QuotaKeeper } from '../../ledger/quotas/quota-keeper.ts'
import type { Engine } from '../../base/engine/engine.ts'
import type { StepCall } from '../../base/engine/step.ts'
import { encodeFinished, type FinishedRecord } from '../../base/layout/finished-record.ts'
import { encodeRequest, type EncodedRequest } from '../../base/layout/job-record.ts'
import { createSequence } from '../enqueue/sequence.ts'
import { indexed, type PageHead, type PageJob, rowsOfQueues } from './pages/page-rows.ts'
import { REMAKE_PAGE } from './pages/page-steps.ts'

/** What a new job is made of: a chain whose state was read. */
export interface Remaking {
  /** The summary of a finished chain as it was read; null = it is a dead letter. */
  readonly before: string | null
  readonly finished: Omit<FinishedRecord, 'replayedAs'>
  /** Empty = the dead letter's own request, unchanged. */
  readonly request: EncodedRequest
  readonly timeoutSeconds: number | null
}

/** @param request null = the dead letter's own */
export function encodedOrOwn(request: JobRequest | null): EncodedRequest {
  return request === null ? { inline: '', large: '' } : encodeRequest(request)
}

export interface ToRemake extends PageJob {
  readonly remaking: Remaking
  readonly newSeq: number
}

/** A page of jobs of one team and shard. */
export interface RemakePage {
  readonly head: PageHead
  readonly team: string
  readonly action: string
  readonly jobs: readonly ToRemake[]
  /** true = quotas are read anew, and all that is left of them may be used here. */
  readonly isLastTry: boolean
}

export interface Remaker {
  /** Takes sequence numbers for new jobs of a shard. */
  take(shard: number, count: number, resendForMs: number): Promise<number[]>
  /** Called when an id block turned out to be another process's. */
  dropBlocks(shard: number): void
  pageOf(page: RemakePage): Promise<StepCall>
}

/**
 * Makes pages by which ended chains become new jobs, all under one nonce, which marks the id blocks of this process.
 * @param quotas null = there are no quotas
 */
export function createRemaker(engine: Engine, quotas: QuotaKeeper | null): Remaker {
  const blockNonce = randomBytes(6).toString('base64url')
  const sequences = engine.shards.map((keys) => createSequence(engine, keys))
  return {
    take: async (shard, count, resendForMs) => (await sequences[shard]?.take(count, resendForMs)) ?? [],
    dropBlocks: (shard) => sequences[shard]?.dropBlocks(),
    pageOf: async ({ head, team, action, jobs, isLastTry }) => {
      const { shard } = head.keys
      const ceilings = (await quotas?.ceilings(shard, [team], new Set(isLastTry ? [team] : []))) ?? null
      return REMAKE_PAGE.with({
        ...head,
        ...packCeilings(ceilings, [team], engine.runner.redisNowMs(shard)),
        ...rowsOf(engine, head, jobs),
        leaseMs: LEASE_MS,
        action,
        retainMs: engine.retention.finishedChainsMs,
        blockNonce,
      })
    },
  }
}

function rowsOf(engine: Engine, { keys }: PageHead, jobs: readonly ToRemake[]) {
  const { queues, rowOf } = rowsOfQueues(jobs)
  return {
    queues,
    jobs: jobs.map((job) => {
      const { jobId, rootId, newSeq, remaking } = job
      const id = engine.jobIds.idOf(keys.shard, newSeq, 1)
      return {
        queue: rowOf(job),
        oldId: jobId,
        root: rootId,
        id,
        seq: newSeq,
        ...indexed(keys, newSeq),
        oldSeq: engine.jobIds.seqOf(rootId),
        timeout: remaking.timeoutSeconds ?? '',
        request: remaking.request.inline,
        large: remaking.request.large,
        before: remaking.before ?? '',
        summary: encodeFinished({ ...remaking.finished, replayedAs: id }),
      }
    }),
  }
}
