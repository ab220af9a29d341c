import { formatCount, plural } from '../../format/numbers.ts'
import { formatShort } from '../../format/times.ts'
import { Button } from '../../ui/button.tsx'
import { useNow, useZone } from '../../ui/time.tsx'
import type { useJobPages } from './job-pages.ts'
import './list-foot.css'

type List = ReturnType<typeof useJobPages>

/** Below the list: how much of it is shown, how far was searched, and the way to more. */
export function ListFoot({ list }: { readonly list: List }) {
  const { jobs, rows, searched, isSearch, isLive, isFull, isLater } = list
  const isMore = jobs.hasNextPage
  if (rows.length === 0 && !isMore && !isLater) return null
  return (
    <footer class="list-foot">
      <p class="soft">
        {rows.length > 0 && (
          <>
            {plural(rows.length, 'job')}
            {isMore || isLater ? ' of more' : ''}.{' '}
          </>
        )}
        {isSearch && (
          <>
            Searched {formatCount(searched)} records{isMore ? ', there are more' : ', all there are'}.{' '}
          </>
        )}
        {!isLive && <AsOf list={list} />}
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
