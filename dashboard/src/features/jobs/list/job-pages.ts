import { useState } from 'preact/hooks'
import type { JobSummary } from '../../../../../clients/typescript/src/client.ts'
import { usePages } from '../../../api/reads.ts'
import { filterOf, type FilterValues } from '../job-filter.ts'

const PAGE_SIZE = 100
/** Rows that are shown at most: further ones take their place. */
const ROWS_MAX = 400
/** What is looked at again by itself whenever something changes: of further pages each would be read again as well. */
const LIVE_RECORDS_MAX = 2_000
const LIVE_PAGES_MAX = 1

/** A part of a long list: pages from one place on, and the places before it. */
export function useJobPages(values: FilterValues) {
  const asked = JSON.stringify(filterOf(values))
  const [place, setPlace] = useState<Place>({ asked, before: [], from: null })
  const { before, from } = place.asked === asked ? place : { before: [], from: null }
  const [isLive, setIsLive] = useState(true)
  const jobs = usePages('listJobs', { ...filterOf(values), limit: PAGE_SIZE }, { from, isLive })
  const pages = jobs.data?.pages ?? []
  const rows: JobSummary[] = pages.flatMap((page) => page.jobs)
  const searched = pages.reduce((sum, page) => sum + (page.searched ?? 0), 0)
  const isCheap = searched <= LIVE_RECORDS_MAX && pages.length <= LIVE_PAGES_MAX
  if (isLive !== isCheap) setIsLive(isCheap)
  const next = pages.at(-1)?.next_cursor ?? null
  return {
    jobs,
    rows: unique(rows),
    searched,
    isSearch: pages.some((page) => page.searched !== undefined),
    isLive,
    /** The filter. */
    asked,
    /** Changes when other rows are asked for. */
    scope: JSON.stringify([asked, from, pages.length, jobs.isPlaceholderData]),
    isFull: rows.length >= ROWS_MAX,
    isLater: from !== null,
    goOn: () => setPlace({ asked, before: [...before, from], from: next }),
    goBack: () => setPlace({ asked, before: before.slice(0, -1), from: before.at(-1) ?? null }),
  }
}

interface Place {
  /** The filter that the place belongs to: in another list it means nothing. */
  readonly asked: string
  readonly before: ReadonlyArray<string | null>
  readonly from: string | null
}

/** A job that moved on while pages were read may come twice. */
function unique(rows: readonly JobSummary[]): JobSummary[] {
  return [...new Map(rows.map((row) => [row.job_id, row])).values()]
}
