import { copyRequest, deepened, type RequestChange } from '../../domain/jobs/job-copy.ts'
import type { AttemptSummary, JobChain, JobRequest } from '../../domain/jobs/job.ts'
import type { RemadeJob } from '../../ports/jobs.ts'
import { readChain, unlessDamaged } from '../chains/chain-reader.ts'
import { isDamaged } from '../chains/damaged-chain.ts'
import type { KnownQueue } from '../chains/known-queue.ts'
import type { Engine } from '../client/engine.ts'
import { decodeFinished } from '../layout/finished-record.ts'
import { decodeRecord, decodeRequest } from '../layout/job-record.ts'
import type { Remaking } from './remake-job.ts'

type Refusal = Exclude<RemadeJob, { status: 'made' }>

/** What a replay makes the new job of, or why it cannot. */
export async function readForReplay(
  engine: Engine,
  queue: KnownQueue,
  { jobId, ...wanted }: { readonly jobId: number } & Wanted,
): Promise<Remaking | Refusal> {
  const rootId = engine.jobIds.rootOf(jobId)
  const letter = await readDeadLetter(engine, queue, rootId)
  if (letter === null) {
    const chain = await readChain(engine, queue, rootId)
    return chain === null ? { status: 'not_found' } : (whyNoneMade(chain) ?? { status: 'not_dead_lettered' })
  }
  return remakingOf(rootId, letter, wanted)
}

/** How the new job differs; it is of this call depth at least. */
interface Wanted {
  readonly change: RequestChange
  readonly callDepth: number
}

/** What of a dead letter is needed to make a new job of it. */
export interface Letter {
  readonly attempts: readonly AttemptSummary[]
  readonly request: JobRequest
}

export function remakingOf(
  rootId: number,
  { attempts, request }: Letter,
  { change, callDepth }: Wanted,
): Remaking {
  const changed = deepened({ ...request, ...change }, callDepth)
  const isChanged = Object.keys(change).length > 0 || changed.callDepth !== request.callDepth
  return {
    ...{ rootId, before: null },
    finished: { end: 'dead_lettered', attempts, request, hadNoPayload: request.payload === null },
    request: isChanged ? changed : null,
    timeoutSeconds: changed.timeoutSeconds,
  }
}

/** What a retry makes the new job of, or why it cannot. A dead letter is replayed. */
export async function readForRetry(
  engine: Engine,
  queue: KnownQueue,
  { jobId, callDepth }: { readonly jobId: number; readonly callDepth: number },
): Promise<Remaking | Refusal> {
  const rootId = engine.jobIds.rootOf(jobId)
  const k = queue.keys.queue(queue.localId)
  const letter = await readForReplay(engine, queue, { jobId, change: {}, callDepth })
  if (!('status' in letter) || letter.status !== 'not_dead_lettered') return letter
  // Read before the chain: a summary that is written in between is not found to be the one before.
  const before = await engine.runner.read((redis) => redis.hget(k.summaries, String(rootId)))
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
  return {
    ...{ rootId, before, finished: decodeFinished(before), request: copy.request },
    timeoutSeconds: copy.request.timeoutSeconds,
  }
}

function whyNoneMade(chain: JobChain): Refusal | null {
  if (isDamaged(chain)) return { status: 'damaged' }
  return chain.replayedAs === null ? null : { status: 'already_made', jobId: chain.replayedAs }
}

/** null when there is none, or it is damaged. */
async function readDeadLetter(engine: Engine, queue: KnownQueue, rootId: number) {
  const k = queue.keys.queue(queue.localId)
  const [body, largePart] = await engine.runner.read((redis) =>
    Promise.all([
      redis.hget(k.deadLetterRecords, String(rootId)),
      redis.hget(k.payloads, String(engine.jobIds.seqOf(rootId))),
    ]),
  )
  return body === null ? null : letterIn(body, largePart)
}

/** null when it is damaged. */
export function letterIn(body: string, largePart: string | null): Letter | null {
  return unlessDamaged(
    () => {
      const { requestPart, earlier } = decodeRecord(body, largePart)
      return requestPart === null ? null : { attempts: earlier, request: decodeRequest(requestPart) }
    },
    () => null,
  )
}
