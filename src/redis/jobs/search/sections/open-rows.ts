import { chainOf, toOpenAttempt } from '../../../ledger/chain-reader.ts'
import type { KnownQueue } from '../../../base/names/known-queue.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import { recordedRows, type Rows, type SeenJob } from './recorded-rows.ts'
import type { SearchBudget } from './search-budget.ts'
import type { AskedSection } from './section-page.ts'

interface SeenJobs {
  readonly jobs: readonly SeenJob[]
  readonly budget: SearchBudget
}

/** Reads the rows of open jobs, at least that of the first one. */
export async function openRows(
  engine: Engine,
  asked: AskedSection,
  { jobs, budget }: SeenJobs,
): Promise<Rows> {
  if (jobs.length === 0) return []
  const { queue } = asked
  const { inFlight } = queue.keys.queue(queue.localId)
  const deadlines = await engine.runner.read((redis) =>
    redis.zmscore(inFlight, ...jobs.map(({ id }) => String(id))),
  )
  return recordedRows(engine, asked, {
    jobs,
    budget,
    chainWith: ({ id, at }, record) => {
      const open = toOpenAttempt(record, deadlines[at] ?? null)
      return chainOf(engine, queue, { rootId: engine.jobIds.rootOf(id), record, open, calls: [] })
    },
  })
}

export async function readRecords(
  engine: Engine,
  queue: KnownQueue,
  ids: readonly number[],
): Promise<SeenJob[]> {
  const { records } = queue.keys.queue(queue.localId)
  const texts = await engine.runner.read((redis) => redis.hmget(records, ...ids.map(String)))
  return ids.map((id, i) => ({ id, text: texts[i] ?? null }))
}
