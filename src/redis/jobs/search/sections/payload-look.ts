import { matchingJob } from '../../../../domain/jobs/job-match.ts'
import type { JobChain } from '../../../../domain/jobs/job.ts'
import type { ListedJob } from '../../../../ports/jobs.ts'
import { unlessDamaged } from '../../../ledger/chain-reader.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import { decodeRecord, decodeRequest } from '../../../base/layout/job-record.ts'
import type { SearchBudget } from './search-budget.ts'
import type { SectionOfQueue } from './section-page.ts'

/** A chain whose payload lies beside its record. */
export interface LargeChain {
  /** Where it stands among its neighbours. */
  readonly at: number
  readonly chain: JobChain
  readonly text: string
}

interface PayloadLook {
  readonly found: ReadonlyArray<{ readonly at: number; readonly row: ListedJob }>
  /** The first chain that was not looked at; null = all were. */
  readonly undecidedAt: number | null
}

/** Bounds the bytes of payloads that one command reads, and those that one call reads beside one larger payload. */
const PAYLOAD_BYTES_AT_ONCE = 1024 * 1024
const PAYLOAD_BYTES_A_LOOK = 8 * PAYLOAD_BYTES_AT_ONCE

/** Answers the rows of those chains that match once their payload is read as well, as far as it may read. */
export async function rowsByPayload(
  engine: Engine,
  { queue, filter }: SectionOfQueue,
  { large, budget }: { readonly large: readonly LargeChain[]; readonly budget: SearchBudget },
): Promise<PayloadLook> {
  const { jobIds, runner } = engine
  const withoutText = { ...filter, text: null }
  const wanted = large.filter(({ chain }) => matchingJob(withoutText, chain, jobIds) !== null)
  const { payloads } = queue.keys.queue(queue.localId)
  const fields = wanted.map(({ chain }) => String(jobIds.seqOf(chain.rootId)))
  const sizes = await runner.read((redis) =>
    Promise.all(fields.map((field) => redis.hstrlen(payloads, field))),
  )
  const found: Array<{ at: number; row: ListedJob }> = []
  let [looked, bytes] = [0, 0]
  while (looked < wanted.length && bytes < PAYLOAD_BYTES_A_LOOK) {
    const portion = portionOf(sizes, looked)
    const parts = await runner.read((redis) => redis.hmget(payloads, ...fields.slice(looked, portion.to)))
    for (const [i, each] of wanted.slice(looked, portion.to).entries()) {
      const chain = chainWithPayload(each, parts[i] ?? null)
      const jobId = chain === null ? null : matchingJob(filter, chain, jobIds)
      // The job is listed without its payload, so that a page does not hold a thousand of them.
      if (jobId !== null) found.push({ at: each.at, row: { jobId, chain: each.chain } })
    }
    bytes += portion.bytes
    looked = portion.to
  }
  budget.spend(0, bytes)
  return { found, undecidedAt: wanted[looked]?.at ?? null }
}

function chainWithPayload({ chain, text }: LargeChain, part: string | null): JobChain | null {
  return unlessDamaged(
    () => {
      const { requestPart } = decodeRecord(text, part)
      if (requestPart === null) return null
      return { ...chain, request: { ...chain.request, payload: decodeRequest(requestPart).payload } }
    },
    () => null,
  )
}

function portionOf(sizes: readonly number[], from: number): { readonly to: number; readonly bytes: number } {
  let to = from
  let bytes = 0
  do {
    bytes += sizes[to] ?? 0
    to += 1
  } while (to < sizes.length && bytes + (sizes[to] ?? 0) <= PAYLOAD_BYTES_AT_ONCE)
  return { to, bytes }
}
