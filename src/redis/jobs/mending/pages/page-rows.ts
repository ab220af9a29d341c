import type { AuditEntry } from '../../../../domain/access/audit-record.ts'
import type { BulkFailureReason } from '../../../../domain/bulk/bulk.ts'
import { audited } from '../../../ledger/audit-log/audit-entry.ts'
import { hintWake, type Engine } from '../../../base/engine/engine.ts'
import type { StepCall } from '../../../base/engine/step.ts'
import { indexPlace, type ShardKeys } from '../../../base/layout/keys.ts'
import type { KnownQueue } from '../../../base/names/known-queue.ts'
import type { MOVE_PART } from './page-steps.ts'

/** A job that a page acts on. */
export interface PageJob {
  readonly jobId: number
  readonly rootId: number
  readonly queue: KnownQueue
}

/** The head that every page has, which says whether it is of a bulk or of one job. */
export type PageHead = Parameters<typeof MOVE_PART.with>[0] & { readonly keys: ShardKeys }

/** Makes the head of a page of one job, which is audited as `entry` says. */
export function headOfOne(engine: Engine, { keys, team }: KnownQueue, entry: AuditEntry): PageHead {
  return { keys, parts: [], misfits: [], audits: [audited(engine, keys, { team, entry })] }
}

/** Says what became of the one job of a page, in the words of its step. */
type Answer =
  | 'cancelled'
  | 'fired'
  | 'fired_before'
  | 'made'
  | 'made_before'
  | 'foreign_block'
  | 'sent'
  | BulkFailureReason

/** Sends a page of one job. `detail` is what the step answers beside what became of the job. */
export async function sendOne(
  engine: Engine,
  { keys }: KnownQueue,
  { call, resendForMs }: { readonly call: StepCall; readonly resendForMs: number },
): Promise<{ readonly answer: Answer; readonly detail: string }> {
  const reply = String(await engine.runner.run(call, resendForMs))
  const [answer = '', woken, detail = ''] = reply.split(' ')
  if (Number(woken) > 0) hintWake(engine, keys.shard)
  return { answer: answer as Answer, detail }
}

/** Makes the queues of a page into rows, and for each of its jobs the number of its row, from 1. */
export function rowsOfQueues(jobs: ReadonlyArray<Pick<PageJob, 'queue'>>): {
  readonly queues: string[]
  rowOf(job: Pick<PageJob, 'queue'>): number
} {
  const queues = [...new Set(jobs.map(({ queue }) => queue.localId))]
  const rows = new Map(queues.map((localId, i) => [localId, i + 1]))
  return { queues, rowOf: ({ queue }) => rows.get(queue.localId) ?? 0 }
}

/** Answers where the index has a chain: the key of its block with the block's number, and its field there. */
export function indexed(
  keys: ShardKeys,
  seq: number,
): { readonly jobIndex: string; readonly block: number; readonly field: string } {
  const { block, field } = indexPlace(seq)
  return { jobIndex: keys.jobIndex(block), block, field }
}

/** Makes the rows of a page that makes no new jobs. */
export function rowsOf(engine: Engine, keys: ShardKeys, jobs: readonly PageJob[]) {
  const { queues, rowOf } = rowsOfQueues(jobs)
  return {
    queues,
    jobs: jobs.map((job) => {
      const seq = engine.jobIds.seqOf(job.jobId)
      return { queue: rowOf(job), id: job.jobId, root: job.rootId, seq, ...indexed(keys, seq) }
    }),
  }
}
