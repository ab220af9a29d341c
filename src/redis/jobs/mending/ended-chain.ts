import { copyRequest, deepened, ofBulk, type RequestChange } from '../../../domain/jobs/job-copy.ts'
import type { JobChain } from '../../../domain/jobs/job.ts'
import type { RemadeJob } from '../../../ports/jobs.ts'
import { readChain } from '../../ledger/chain-reader.ts'
import { isDamaged } from '../../ledger/damaged-chain.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { decodeFinished } from '../../base/layout/finished-record.ts'
import { readLetters, type ReadLetter } from './dead-letters.ts'
import type { PageJob } from './pages/page-rows.ts'
import { encodedOrOwn, type Remaking } from './remaker.ts'

/** Says why no new job can be made of a chain. */
export type NotRemade = Exclude<RemadeJob, { status: 'made' }>

/** How the new job differs from the old one. Its call depth is at least this one. */
interface Wanted {
  readonly change: RequestChange
  readonly callDepth: number
  /** The bulk that makes it; absent = none does. */
  readonly bulkId?: number
}

/** Reads what a replay makes the new job of, or why it cannot. */
export async function readForReplay(
  engine: Engine,
  job: PageJob,
  wanted: Wanted,
): Promise<Remaking | NotRemade> {
  const letter = await readLetter(engine, job)
  if (letter.status !== 'not_dead_lettered') return remakingOf(letter, wanted)
  const chain = await readChain(engine, job.queue, job.rootId)
  return chain === null ? { status: 'not_found' } : (whyNoneMade(chain) ?? letter)
}

/** Reads what a retry makes the new job of, or why it cannot. A dead letter is replayed. */
export async function readForRetry(
  engine: Engine,
  job: PageJob,
  callDepth: number,
): Promise<Remaking | NotRemade> {
  const letter = await readLetter(engine, job)
  return letter.status === 'not_dead_lettered'
    ? readFailed(engine, job, { callDepth })
    : remakingOf(letter, { change: {}, callDepth })
}

async function readLetter(engine: Engine, job: PageJob): Promise<ReadLetter> {
  return (await readLetters(engine, [job]))[0] ?? { status: 'not_dead_lettered' }
}

/** Works out what a new job is made of, from a dead letter. */
export function remakingOf(letter: ReadLetter, { change, callDepth, bulkId }: Wanted): Remaking | NotRemade {
  if (letter.status !== 'dead') return letter
  const { attempts, request } = letter.letter
  const changed = ofBulk(deepened({ ...request, ...change }, callDepth), bulkId ?? null)
  const isChanged =
    Object.keys(change).length > 0 ||
    changed.callDepth !== request.callDepth ||
    changed.bulkId !== request.bulkId
  return {
    before: null,
    finished: { end: 'dead_lettered', attempts, request, hadNoPayload: request.payload === null },
    request: encodedOrOwn(isChanged ? changed : null),
    timeoutSeconds: changed.timeoutSeconds,
  }
}

/** Reads what a new job is made of, from a finished chain that failed. */
export async function readFailed(
  engine: Engine,
  { rootId, queue }: PageJob,
  { callDepth, bulkId }: Omit<Wanted, 'change'>,
): Promise<Remaking | NotRemade> {
  const { summaries } = queue.keys.queue(queue.localId)
  // The summary is read before the chain, so that one written in between is not taken for the one before.
  const before = await engine.runner.read((redis) => redis.hget(summaries, String(rootId)))
  const chain = await readChain(engine, queue, rootId)
  if (chain === null) return { status: 'not_found' }
  const refusal = whyNoneMade(chain)
  if (refusal !== null) return refusal
  if (chain.open !== null || before === null) {
    const { jobIds } = engine
    const attempt = chain.open?.attempt ?? chain.attempts.length
    return { status: 'not_ended', jobId: jobIds.idOf(queue.keys.shard, jobIds.seqOf(rootId), attempt) }
  }
  if (chain.end === 'success') return { status: 'not_failed' }
  const copy = copyRequest(chain, {}, callDepth)
  if (copy.status === 'not_kept') return copy
  const request = ofBulk(copy.request, bulkId ?? null)
  return {
    before,
    finished: decodeFinished(before),
    request: encodedOrOwn(request),
    timeoutSeconds: request.timeoutSeconds,
  }
}

function whyNoneMade(chain: JobChain): NotRemade | null {
  if (isDamaged(chain)) return { status: 'damaged' }
  return chain.replayedAs === null ? null : { status: 'already_made', jobId: chain.replayedAs }
}
