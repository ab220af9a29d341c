import { useQuery } from '@tanstack/preact-query'
import type { Job } from '../../../../clients/typescript/src/client.ts'
import { api } from '../../session/client.ts'

/** A job with its source text, which has all digits of its payload; read once, since what was pushed does not change. */
export function useJobText(jobId: number | string | null) {
  return useQuery({
    queryKey: ['what was pushed', jobId],
    queryFn: async ({ signal }): Promise<{ readonly job: Job; readonly text: string }> => {
      const { body: job, text } = await api.send('readJob', { job_id: jobId ?? '' }, { signal })
      return { job, text }
    },
    enabled: jobId !== null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}
