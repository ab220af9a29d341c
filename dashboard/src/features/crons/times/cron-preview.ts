import { keepPreviousData, useQuery } from '@tanstack/preact-query'
import type { CronPreviewQuery } from '../../../../../clients/typescript/src/client.ts'
import { api } from '../../../session/client.ts'
import { liveState } from '../../../api/live.ts'

/** What is listed from now on gets old as time passes. */
const EVERY_MS = 30_000

/**
 * The words of an expression and its next ticks, from the server's own scheduler. A 422 says what is wrong with either.
 * @param query null = not yet
 */
export function useCronPreview(query: CronPreviewQuery | null) {
  return useQuery({
    queryKey: ['previewCron', query],
    queryFn: ({ signal }) => api.previewCron({ body: query ?? { cron_expression: '' } }, { signal }),
    enabled: query !== null,
    refetchInterval: () => (document.hidden || liveState() === 'paused' ? false : EVERY_MS),
    placeholderData: keepPreviousData,
  })
}
