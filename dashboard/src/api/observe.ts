import {
  InfiniteQueryObserver,
  notifyManager,
  QueryObserver,
  type useInfiniteQuery as UseInfiniteQuery,
  type useQuery as UseQuery,
  type UseQueryOptions,
  useQueryClient,
} from '@tanstack/preact-query'
import { useEffect, useState } from 'preact/hooks'

/** The library's hooks without suspense and error boundaries, which the page does not use. */
export const useQuery = ((options: UseQueryOptions) => useObserver(options, QueryObserver)) as typeof UseQuery
export const useInfiniteQuery = ((options: UseQueryOptions) =>
  useObserver(options, InfiniteQueryObserver as never)) as unknown as typeof UseInfiniteQuery

function useObserver(options: UseQueryOptions, Observer: typeof QueryObserver) {
  const client = useQueryClient()
  // What is asked for is shown as being read in this drawing, not in the next.
  const given = { ...client.defaultQueryOptions(options), ['_optimisticResults']: 'optimistic' as const }
  const [observer] = useState(() => new Observer(client, given))
  const [, show] = useState(observer.getCurrentResult())
  const result = observer.getOptimisticResult(given)
  useEffect(() => {
    const draw = (): void => show(observer.getCurrentResult())
    const stop = observer.subscribe(notifyManager.batchCalls(draw))
    observer.updateResult()
    draw()
    return stop
  }, [observer])
  useEffect(() => observer.setOptions(given))
  return observer.trackResult(result)
}
