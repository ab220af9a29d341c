import { keepPreviousData, useQuery } from '@tanstack/preact-query'
import type { WindowTimes } from '../../../../clients/typescript/src/client.ts'
import { api } from '../../session/client.ts'

/** When a window of these times would be open, from the server's own code. A 422 says what is wrong with them. */
export function useWindowPreview(times: WindowTimes) {
  return useQuery({
    queryKey: ['previewWindow', times],
    queryFn: ({ signal }) => api.previewWindow({ body: times }, { signal }),
    placeholderData: keepPreviousData,
  })
}
