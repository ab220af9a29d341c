import { plural } from '../../../format/numbers.ts'
import { formatShort } from '../../../format/times.ts'
import { Button } from '../../../ui/button.tsx'
import { useNow, useZone } from '../../../ui/text/time.tsx'
import type { useJobPages } from './job-pages.ts'
import './list-foot.css'

type List = ReturnType<typeof useJobPages>

/** Below the list: how much of it is shown, how far was searched, and the way to more. */
export function ListFoot({ list }: { readonly list: List }) {
  const { jobs, rows, isSearch, isLive, isFull, isLater } = list
  const isMore = jobs.hasNextPage
  if (rows.length === 0 && !isMore && !isLater) return null
  return (
    <footer class="list-foot">
      <p class="soft">
        {toldOf(list)} {!isLive && <AsOf list={list} />}
      </p>
      <div class="row">
        {isLater && <Button onClick={list.goBack}>Back</Button>}
        {isMore && !isFull && (
          <Button isBusy={jobs.isFetchingNextPage} onClick={() => void jobs.fetchNextPage()}>
            {isSearch ? 'Search further' : 'Show more jobs'}
          </Button>
        )}
        {isMore && isFull && <Button onClick={list.goOn}>Next jobs</Button>}
      </div>
    </footer>
  )
}

/** How much is shown, and how far was looked for it. */
function toldOf({ rows, searched, isSearch, isLater, jobs: { hasNextPage } }: List): string {
  const more = hasNextPage ? ', there are more' : isLater ? ', the last' : ''
  if (!isSearch) return `${plural(rows.length, 'job')} shown${more}.`
  const records = plural(searched, 'record')
  return `${plural(rows.length, 'job')} found. Searched ${records}${hasNextPage ? ', there are more' : ', to the end'}.`
}

/** A long search is not repeated whenever something changes. */
function AsOf({ list: { jobs } }: { readonly list: List }) {
  const zone = useZone()
  const nowMs = useNow()
  return (
    <>
      As of {formatShort(jobs.dataUpdatedAt, nowMs, zone)}.{' '}
      <button type="button" class="link" disabled={jobs.isFetching} onClick={() => void jobs.refetch()}>
        Read again
      </button>
    </>
  )
}
