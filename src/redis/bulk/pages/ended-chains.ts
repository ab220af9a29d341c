import type { BulkFailureReason } from '../../../domain/bulk/bulk.ts'
import { BULK_PAGE_BYTES_MAX } from '../../../domain/limits.ts'
import type { Engine } from '../../client/engine.ts'
import { encodeRequest } from '../../layout/job-record.ts'
import { readForRetry, remakingOf } from '../../mending/ended-chain.ts'
import type { Remaking } from '../../mending/remake-job.ts'
import type { BulkRecord } from '../../layout/bulk-record.ts'
import type { Candidate } from './candidates.ts'
import { type ReadLetter, readLetters } from './dead-letters.ts'

/** What a new job is made of, with its request as it is stored ('' = the dead letter's own); or why there is none. */
export type ReadChain =
  | { readonly status: 'ended'; readonly remaking: Remaking; readonly inline: string; readonly large: string }
  | { readonly status: BulkFailureReason }

/** Finished chains that are read at once: each has its call records, of which some have a long body. */
const READ_AT_ONCE = 10

/** Reads the chains of a page, all together. These are the first ones whose requests fit into a page, but at least one. */
export async function readEnded(
  engine: Engine,
  candidates: readonly Candidate[],
  { action, callDepth = 0 }: Pick<BulkRecord, 'action' | 'callDepth'>,
): Promise<readonly ReadChain[]> {
  const letters = await readLetters(engine, candidates)
  const read: ReadChain[] = []
  let bytes = 0
  for (let from = 0; from < letters.length; from += READ_AT_ONCE) {
    const chains = await Promise.all(
      letters.slice(from, from + READ_AT_ONCE).map(async (letter, i) => {
        const candidate = candidates[from + i] as Candidate
        return letter.status === 'not_dead_lettered' && action === 'retry'
          ? readFailed(engine, candidate, callDepth)
          : fromLetter(candidate, letter, callDepth)
      }),
    )
    for (const chain of chains) {
      bytes += chain.status === 'ended' ? chain.inline.length + chain.large.length : 0
      if (bytes > BULK_PAGE_BYTES_MAX && read.length > 0) return read
      read.push(chain)
    }
  }
  return read
}

function fromLetter({ rootId }: Candidate, letter: ReadLetter, callDepth: number): ReadChain {
  if (letter.status !== 'dead') return letter
  return ended(remakingOf(rootId, letter.letter, { change: {}, callDepth }))
}

async function readFailed(
  engine: Engine,
  { jobId, queue }: Candidate,
  callDepth: number,
): Promise<ReadChain> {
  const remaking = await readForRetry(engine, queue, { jobId, callDepth })
  return 'status' in remaking ? { status: remaking.status } : ended(remaking)
}

function ended(remaking: Remaking): ReadChain {
  const { request } = remaking
  return {
    status: 'ended',
    remaking,
    ...(request === null ? { inline: '', large: '' } : encodeRequest(request)),
  }
}
