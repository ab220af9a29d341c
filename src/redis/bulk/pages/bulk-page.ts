import { BULK_FAILURES_MAX } from '../../../domain/limits.ts'
import type { StepCall } from '../../client/step.ts'
import { type ShardKeys, indexPlace } from '../../layout/keys.ts'
import type { BulkPart } from '../../layout/bulk-record.ts'
import { BULK_KEEP_SECONDS, type BulkRef, partMember } from '../records/bulk-steps.ts'
import type { Candidate, CandidateQuery, Misfit } from './candidates.ts'

/** One page: the jobs it acts on, and where its part goes on. */
export interface BulkPage extends Omit<CandidateQuery, 'limit'> {
  readonly candidates: readonly Candidate[]
  readonly misfits: readonly Misfit[]
  /** null = the part ends with it. */
  readonly next: string | null
  /** Of this page alone: the identical one may be sent again. */
  readonly nonce: string
  /** How long the part rests for each job acted on; 0 = not at all. */
  readonly perJobMs: number
}

/** How an action makes a step of a page. Fewer candidates than given: the caller looks for that many again. */
export type BulkAct = (page: BulkPage) => Promise<{ readonly fits: number } | { readonly call: StepCall }>

/** How a part moves on: by a page, or because it ends. */
export interface PartMove {
  readonly ref: BulkRef
  readonly version: string
  readonly nonce: string
  readonly place: string
  readonly state: BulkPart['state']
  readonly isNamed: boolean
  readonly perJobMs: number
  /** How many parts the bulk has. */
  readonly parts: number
  readonly misfits: readonly Misfit[]
}

/** The keys and arguments that every page has. */
export function movedBy(keys: ShardKeys, move: PartMove) {
  const { nonce, version, place, state, perJobMs } = move
  const member = partMember(move.ref)
  return {
    ...{ keys, member, nonce, version, place, state, perJobMs },
    part: keys.bulkPart(member),
    failures: keys.bulkFailures(member),
    isNamed: move.isNamed ? 1 : 0,
    failuresMax: Math.ceil(BULK_FAILURES_MAX / Math.max(1, move.parts)),
    keepSeconds: BULK_KEEP_SECONDS,
    misfits: move.misfits.map(({ jobId, reason, isChange }) => ({
      ...{ jobId, reason, isChange: isChange ? 1 : 0 },
    })),
  }
}

export function moveOf({ ref, part, nonce, next, bulk, perJobMs, misfits }: BulkPage): PartMove {
  return {
    ...{ ref, version: part.version, nonce, perJobMs, misfits },
    ...{ place: next ?? '', state: next === null ? 'done' : 'running' },
    ...{ isNamed: bulk.filter === null, parts: bulk.shards.length },
  }
}

/** The queues of a page as rows, and for each candidate the number of its row, from 1. */
export function rowsOfQueues(candidates: readonly Candidate[]): {
  readonly queues: string[]
  rowOf(candidate: Candidate): number
} {
  const queues = [...new Set(candidates.map(({ queue }) => queue.localId))]
  const rows = new Map(queues.map((localId, i) => [localId, i + 1]))
  return { queues, rowOf: ({ queue }) => rows.get(queue.localId) ?? 0 }
}

/** Of a chain: the key of its block in the index, and its field there. */
export function indexed(keys: ShardKeys, seq: number): { readonly jobIndex: string; readonly field: string } {
  const { block, field } = indexPlace(seq)
  return { jobIndex: keys.jobIndex(block), field }
}
