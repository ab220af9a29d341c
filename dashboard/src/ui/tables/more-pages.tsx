import type { UseInfiniteQueryResult } from '@tanstack/preact-query'
import { Button } from '../button.tsx'
import './more-pages.css'

type Pages = Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>

/** Below a list: reads its next page. */
export function MorePages({ query, what }: { readonly query: Pages; readonly what: string }) {
  if (!query.hasNextPage) return null
  return (
    <div class="more-pages">
      <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        Show more {what}
      </Button>
    </div>
  )
}
