import type { Bulk, BulkList, BulkPreview } from '../../../clients/typescript/src/client.ts'
import { factView, itemView, listView } from '../output/view.ts'

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
    { head: 'MATCHED', cell: matchedText },
    { head: 'CREATED', cell: (bulk) => bulk.created_at },
    { head: 'BY', cell: (bulk) => bulk.created_by, isWide: true },
    { head: 'JOBS', cell: targetText },
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
    `created at ${bulk.created_at} by ${bulk.created_by}`,
    ...(bulk.rate === null ? [] : [`at most ${bulk.rate} a second`]),
    ...(bulk.ended_at === null ? [] : [`ended at ${bulk.ended_at}`]),
    ...failures.slice(0, SHOWN_FAILURES_MAX).map(({ job_id: id, reason }) => `job ${id}: ${reason}`),
    ...(more > 0 ? [`and ${more} more`] : []),
  ]
}

function matchedText({ matched, is_at_least: isAtLeast }: Pick<Bulk, 'matched' | 'is_at_least'>): string {
  return isAtLeast ? `${matched} or more` : `${matched}`
}

function targetText({ filter }: Bulk): string {
  if (filter === null) return 'by ids'
  const parts = Object.entries(filter).map(([name, value]) => `${name}=${value}`)
  return parts.length === 0 ? 'all' : parts.join(' ')
}
