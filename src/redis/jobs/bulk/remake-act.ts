import { shardKeys, type Engine } from '../../base/engine/engine.ts'
import type { Remaker, ToRemake } from '../mending/remaker.ts'
import { type BulkAct, movedBy, moveOf } from './bulk-page.ts'
import { readEnded } from './ended-chains.ts'

const RESEND_MS = 2_000

export function remakeAct(engine: Engine, remaker: Remaker): BulkAct {
  return async (page) => {
    const { candidates, shard, bulk, ref } = page
    const chains = await readEnded(engine, candidates, { bulkId: ref.id, bulk })
    if (chains.length < candidates.length) return { fits: chains.length }
    const ended = chains.filter((chain) => !('status' in chain)).length
    const newSeqs = await remaker.take(shard, ended, RESEND_MS)
    const misfits = [...page.misfits]
    const jobs: ToRemake[] = []
    for (const [i, candidate] of candidates.entries()) {
      const chain = chains[i]
      if (chain === undefined) continue
      if ('status' in chain) {
        const { status } = chain
        const isChange = status !== 'damaged' && status !== 'not_kept'
        misfits.push({ jobId: candidate.jobId, reason: status, isChange })
      } else {
        jobs.push({ ...candidate, remaking: chain, newSeq: newSeqs[jobs.length] ?? 0 })
      }
    }
    const head = movedBy(shardKeys(engine, shard), moveOf({ ...page, misfits }))
    // Quotas are read anew for each page, so what is refused here is not tried again.
    const call = await remaker.pageOf({ head, team: ref.team, action: bulk.action, jobs, isLastTry: true })
    return { call }
  }
}
