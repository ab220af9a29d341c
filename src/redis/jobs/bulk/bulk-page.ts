import { BULK_FAILURES_MAX, BULK_JOBS_LISTED_MAX } from '../../../domain/limits.ts'
import type { StepCall } from '../../base/engine/step.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import type { BulkPart } from '../../base/layout/bulk-record.ts'
import { BULK_KEEP_SECONDS, type BulkRef, outcomeMember, partMember } from './records/bulk-steps.ts'
import type { PageHead } from '../mending/pages/page-rows.ts'
import type { Candidate, CandidateQuery, Misfit } from './candidates.ts'

/** One page: the jobs it acts on, and where its part goes on. */
export interface BulkPage extends Omit<CandidateQuery, 'limit'> {
  readonly candidates: readonly Candidate[]
  readonly misfits: readonly Misfit[]
  /** null = the part ends with this page. */
  readonly next: string | null
  /** Identifies this page, so that the identical one may be sent again. */
  readonly nonce: string
  /** The part rests this long for each job acted on; 0 = not at all. */
  readonly perJobMs: number
}

/**
 * Makes the step of a page for one action. When fewer candidates fit than were given, the caller seeks that many again.
 */
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
  /** The part rests this long beside that; absent = not at all. */
  readonly restMs?: number
  /** How many parts the bulk has. */
  readonly parts: number
  readonly misfits: readonly Misfit[]
}

/** Makes the head of a page that moves a part on. */
export function movedBy(keys: ShardKeys, move: PartMove): PageHead {
  const { nonce, version, place, state, perJobMs } = move
  const member = partMember(move.ref)
  return {
    keys,
    parts: [
      {
        bulksDue: keys.bulksDue,
        part: keys.bulkPart(member),
        failures: keys.bulkFailures(member),
        bulkJobs: keys.bulkJobs(member),
        bulkWaiting: keys.bulkWaiting(member),
        member,
        outcomeMember: outcomeMember(move.ref),
        nonce,
        version,
        place,
        state,
        perJobMs,
        restMs: move.restMs ?? 0,
        isNamed: move.isNamed ? 1 : 0,
        failuresMax: Math.ceil(BULK_FAILURES_MAX / Math.max(1, move.parts)),
        jobsMax: Math.ceil(BULK_JOBS_LISTED_MAX / Math.max(1, move.parts)),
        keepSeconds: BULK_KEEP_SECONDS,
      },
    ],
    audits: [],
    misfits: move.misfits.map(({ jobId, reason, isChange }) => ({
      jobId,
      reason,
      isChange: isChange ? 1 : 0,
    })),
  }
}

export function moveOf({ ref, part, nonce, next, bulk, perJobMs, misfits }: BulkPage): PartMove {
  return {
    ref,
    version: part.version,
    nonce,
    perJobMs,
    misfits,
    place: next ?? '',
    state: next === null ? 'done' : 'running',
    isNamed: bulk.filter === null,
    parts: bulk.shards.length,
  }
}
