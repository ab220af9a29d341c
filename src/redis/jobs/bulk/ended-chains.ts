import { BULK_PAGE_BYTES_MAX } from '../../../domain/limits.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { type NotRemade, readFailed, remakingOf } from '../mending/ended-chain.ts'
import type { Remaking } from '../mending/remaker.ts'
import type { BulkRecord } from '../../base/layout/bulk-record.ts'
import type { Candidate } from './candidates.ts'
import { readLetters } from '../mending/dead-letters.ts'

/** At most this many finished chains are read at once. Each has its call records, of which some have a long body. */
const READ_AT_ONCE = 10

/** Reads the chains of a page together: the first ones whose requests fit into a page, but at least one. */
export async function readEnded(
  engine: Engine,
  candidates: readonly Candidate[],
  { bulkId, bulk }: { readonly bulkId: number; readonly bulk: Pick<BulkRecord, 'action' | 'callDepth'> },
): Promise<ReadonlyArray<Remaking | NotRemade>> {
  const { action, callDepth = 0 } = bulk
  const letters = await readLetters(engine, candidates)
  const read: Array<Remaking | NotRemade> = []
  let bytes = 0
  for (let from = 0; from < letters.length; from += READ_AT_ONCE) {
    const chains = await Promise.all(
      letters.slice(from, from + READ_AT_ONCE).map(async (letter, i) => {
        const candidate = candidates[from + i] as Candidate
        return letter.status === 'not_dead_lettered' && action === 'retry'
          ? readFailed(engine, candidate, { callDepth, bulkId })
          : remakingOf(letter, { change: {}, callDepth, bulkId })
      }),
    )
    for (const chain of chains) {
      bytes += 'status' in chain ? 0 : chain.request.inline.length + chain.request.large.length
      if (bytes > BULK_PAGE_BYTES_MAX && read.length > 0) return read
      read.push(chain)
    }
  }
  return read
}
