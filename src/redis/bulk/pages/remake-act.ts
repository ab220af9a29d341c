import { randomBytes } from 'node:crypto'
import { LEASE_MS } from '../../../domain/limits.ts'
import { monthOf } from '../../../domain/quotas.ts'
import { shardKeys, type Engine } from '../../client/engine.ts'
import { createSequence } from '../../enqueue/sequence.ts'
import { encodeFinished } from '../../layout/finished-record.ts'
import { NO_CEILINGS } from '../../quotas/ceilings.ts'
import type { QuotaKeeper } from '../../quotas/quota-keeper.ts'
import { type BulkAct, type BulkPage, indexed, movedBy, moveOf, rowsOfQueues } from './bulk-page.ts'
import type { Candidate } from './candidates.ts'
import { type ReadChain, readEnded } from './ended-chains.ts'
import { REMAKE_PAGE } from './page-steps.ts'

const RESEND_MS = 2_000

interface ToRemake {
  readonly candidate: Candidate
  readonly chain: ReadChain & { readonly status: 'ended' }
  readonly newSeq: number
}

/** Makes new jobs, under one nonce, which marks the id blocks of this process. */
export function createRemakeAct(engine: Engine, quotas: QuotaKeeper | null) {
  const blockNonce = randomBytes(6).toString('base64url')
  const sequences = engine.shards.map((keys) => createSequence(engine, keys))

  async function act(page: BulkPage): ReturnType<BulkAct> {
    const { candidates, shard } = page
    const chains = await readEnded(engine, candidates, page.bulk)
    if (chains.length < candidates.length) return { fits: chains.length }
    const ended = chains.filter(({ status }) => status === 'ended').length
    const newSeqs = (await sequences[shard]?.take(ended, RESEND_MS)) ?? []
    const misfits = [...page.misfits]
    const remade: ToRemake[] = []
    for (const [i, candidate] of candidates.entries()) {
      const chain = chains[i]
      if (chain === undefined) continue
      if (chain.status === 'ended') {
        remade.push({ candidate, chain, newSeq: newSeqs[remade.length] ?? 0 })
      } else {
        const { status } = chain
        const isChange = status !== 'damaged' && status !== 'not_kept'
        misfits.push({ jobId: candidate.jobId, reason: status, isChange })
      }
    }
    return { call: await callOf({ engine, quotas, blockNonce }, { ...page, misfits }, remade) }
  }

  return { act, dropBlock: (shard: number) => sequences[shard]?.dropBlocks() }
}

async function callOf(
  {
    engine,
    quotas,
    blockNonce,
  }: { readonly engine: Engine; readonly quotas: QuotaKeeper | null; readonly blockNonce: string },
  page: BulkPage,
  remade: readonly ToRemake[],
) {
  const keys = shardKeys(engine, page.shard)
  const { team } = page.ref
  // The quotas are read anew for each page: what is refused here is not asked again.
  const ceilings = (await quotas?.ceilings(page.shard, [team], new Set([team]))) ?? null
  const { jobs: jobsMax, bytes: bytesMax, monthJobs: monthMax, isShare } = ceilings?.of(team) ?? NO_CEILINGS
  const { month, nextStartsMs } = ceilings?.month ?? monthOf(engine.runner.redisNowMs(page.shard))
  const { queues, rowOf } = rowsOfQueues(remade.map(({ candidate }) => candidate))
  const jobs = remade.map(({ candidate, chain, newSeq }) => {
    const { rootId, jobId } = candidate
    const { remaking, inline, large } = chain
    const id = engine.jobIds.idOf(page.shard, newSeq, 1)
    return {
      ...{ queue: rowOf(candidate), oldId: jobId, root: rootId, id, seq: newSeq },
      ...indexed(keys, newSeq),
      oldSeq: engine.jobIds.seqOf(rootId),
      timeout: remaking.timeoutSeconds ?? '',
      ...{ request: inline, large, before: remaking.before ?? '' },
      summary: encodeFinished({ ...remaking.finished, replayedAs: id }),
    }
  })
  return REMAKE_PAGE.with({
    ...movedBy(keys, moveOf(page)),
    ...{ leaseMs: LEASE_MS, action: page.bulk.action, retainMs: engine.retention.finishedChainsMs },
    ...{ blockNonce, queues, jobs },
    ...{ month, monthEndsMs: nextStartsMs, allBytesMax: ceilings?.memory ?? '', team },
    ...{
      jobsMax: jobsMax ?? '',
      bytesMax: bytesMax ?? '',
      monthMax: monthMax ?? '',
      isShare: isShare ? 1 : 0,
    },
  })
}
