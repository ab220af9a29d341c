import { useQuery } from '@tanstack/preact-query'
import type { BulkAction, BulkPreview } from '../../../../../clients/typescript/src/client.ts'
import { api } from '../../../session/client.ts'
import type { BulkTarget } from './bulk-actions.ts'
import { bulkFilterOf } from '../job-filter.ts'

export function targetBody(target: BulkTarget) {
  return target.kind === 'ids' ? { ids: [...target.ids] } : { filter: bulkFilterOf(target.values) }
}

/** Counts what a bulk would act on, and changes nothing. */
export function useBulkPreview(action: BulkAction, target: BulkTarget) {
  return useQuery({
    queryKey: ['bulk preview', action, target],
    queryFn: ({ signal }) =>
      api.createBulk(
        { body: { action, ...targetBody(target), dry_run: true } },
        { signal },
      ) as Promise<BulkPreview>,
    staleTime: 10_000,
    retry: false,
  })
}
