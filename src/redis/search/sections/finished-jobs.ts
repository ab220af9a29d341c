import { matchingJob } from '../../../domain/jobs/job-match.ts'
import type { ListedJob } from '../../../ports/jobs.ts'
import { finishedChain, unlessDamaged } from '../../chains/chain-reader.ts'
import type { Engine } from '../../client/engine.ts'
import type { Spot } from './spot.ts'
import { READ_AT_ONCE, type AskedSection, type Room, type SectionPage } from './section-page.ts'

/** Newest first. */
export async function readFinished(
  engine: Engine,
  { queue, filter }: AskedSection,
  { from, room, budget }: Room & { readonly from: Spot & { readonly kind: 'left' } },
): Promise<SectionPage> {
  const k = queue.keys.queue(queue.localId)
  const { runner, jobIds } = engine
  const left = Math.min(from.left, await runner.read((redis) => redis.llen(k.history)))
  if (left === 0) return { jobs: [], next: null }
  const rest = Math.max(0, left - READ_AT_ONCE)
  const roots = await runner.read((redis) => redis.lrange(k.history, -left, -rest - 1))
  const texts = roots.length === 0 ? [] : await runner.read((redis) => redis.hmget(k.summaries, ...roots))
  const jobs: ListedJob[] = []
  for (const [i, root] of roots.entries()) {
    const text = texts[i] ?? null
    if (text === null) continue
    const chain = unlessDamaged(
      () => finishedChain(engine, queue, { rootId: Number(root), text, calls: [] }),
      () => null,
    )
    const jobId = chain === null ? null : matchingJob(filter, chain, jobIds)
    if (chain !== null && jobId !== null) jobs.push({ jobId, chain })
    budget.spend(1, text.length)
    const isLast = left - i - 1 === 0
    if (jobs.length >= room) return { jobs, next: isLast ? null : { kind: 'left', left: left - i - 1 } }
  }
  return { jobs, next: rest === 0 ? null : { kind: 'left', left: rest } }
}
