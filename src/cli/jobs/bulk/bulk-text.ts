import type { Bulk, BulkList, BulkPreview } from '../../../../clients/typescript/src/client.ts'
import { factView, itemView, listView } from '../../output/view.ts'

/** Failures that a page shows; `-o json` has all that are kept. */
const SHOWN_FAILURES_MAX = 20

/** One line per bulk. */
export const BULK_LIST = listView<BulkList, Bulk>({
  kind: 'bulk',
  items: (list) => list.bulks,
  id: (bulk) => bulk.id,
  columns: [
    { head: 'BULK', cell: (bulk) => String(bulk.id) },
    { head: 'ACTION', cell: (bulk) => bulk.action },
    { head: 'STATE', cell: (bulk) => bulk.state },
    { head: 'DONE', cell: (bulk) => String(bulk.done) },
    { head: 'SKIPPED', cell: (bulk) => String(bulk.skipped), isWide: true },
    { head: 'FAILED', cell: (bulk) => String(bulk.failed) },
    { head: 'SUCCEEDED', cell: (bulk) => outcomeText(bulk, 'succeeded') },
    { head: 'AGAIN', cell: (bulk) => outcomeText(bulk, 'failed_again') },
    { head: 'MATCHED', cell: matchedText },
    { head: 'CREATED', cell: (bulk) => bulk.created_at },
    { head: 'BY', cell: (bulk) => bulk.created_by, isWide: true },
    { head: 'JOBS', cell: targetText, isMain: true },
  ],
})

export const BULK_PAGE = itemView<Bulk>({ kind: 'bulk', id: (bulk) => bulk.id, lines: bulkLines })

export const BULK_PREVIEW = factView<BulkPreview>((preview) => [
  `${matchedText(preview)} jobs match`,
  ...(preview.sample.length === 0 ? [] : [`such as ${preview.sample.join(', ')}`]),
])

function bulkLines(bulk: Bulk): readonly string[] {
  const { failures = [] } = bulk
  const more = failures.length - SHOWN_FAILURES_MAX
  return [
    `bulk ${bulk.id}  ${bulk.action}: ${bulk.state}`,
    targetText(bulk),
    `${bulk.done} done, ${bulk.skipped} skipped, ${bulk.failed} failed of ${matchedText(bulk)}`,
    ...outcomeLines(bulk),
    `created at ${bulk.created_at} by ${bulk.created_by}`,
    ...(bulk.rate === null ? [] : [`at most ${bulk.rate} a second`]),
    ...stopLines(bulk),
    ...(bulk.ended_at === null ? [] : [`ended at ${bulk.ended_at}`]),
    ...failures.slice(0, SHOWN_FAILURES_MAX).map(({ job_id: id, reason }) => `job ${id}: ${reason}`),
    ...(more > 0 ? [`and ${more} more`] : []),
  ]
}

function outcomeText({ outcome = null }: Partial<Bulk>, count: 'succeeded' | 'failed_again'): string {
  return outcome === null ? '-' : String(outcome[count])
}

/** An API of the version before does not know what became of them. */
function outcomeLines({ outcome = null }: Partial<Bulk>): readonly string[] {
  if (outcome === null) return []
  const { succeeded, waiting, failed_again: failedAgain, removed } = outcome
  const gone = removed === 0 ? '' : `, ${removed} removed`
  return [`of the new jobs ${succeeded} succeeded, ${waiting} wait, ${failedAgain} failed again${gone}`]
}

function stopLines({ stop_when: rule = null, stopped = null }: Partial<Bulk>): readonly string[] {
  return [
    ...(rule === null
      ? []
      : [`stops when ${rule.failed_again_percent} % of at least ${rule.min} have failed again`]),
    ...(stopped === null
      ? []
      : [`stopped because ${stopped.failed_again} of ${stopped.ended} had failed again`]),
  ]
}

/** Such as `1 job` or `1000 or more jobs`. */
export function jobsText(found: Pick<Bulk, 'matched' | 'is_at_least'>): string {
  return `${matchedText(found)} ${found.matched === 1 && !found.is_at_least ? 'job' : 'jobs'}`
}

function matchedText({ matched, is_at_least: isAtLeast }: Pick<Bulk, 'matched' | 'is_at_least'>): string {
  return isAtLeast ? `${matched} or more` : `${matched}`
}

function targetText({ filter }: Bulk): string {
  if (filter === null) return 'by ids'
  const parts = Object.entries(filter).map(([name, value]) => `${name}=${value}`)
  return parts.length === 0 ? 'all' : parts.join(' ')
}
