import { useQuery } from '@tanstack/preact-query'
import type { Call, JobSummary } from '../../../../../../clients/typescript/src/client.ts'
import { api } from '../../../../session/client.ts'

/** The newest call of each attempt that has ended, by the id of its job; read once, since it does not change. */
export function useCalls(chain: readonly JobSummary[]): ReadonlyMap<number, Call> {
  const ended = chain.filter(({ completed_at: end }) => end !== null).map(({ job_id: id }) => id)
  const read = useQuery({
    queryKey: ['calls that have ended', ended],
    queryFn: async ({ signal }): Promise<ReadonlyArray<readonly [number, Call]>> => {
      const jobs = await Promise.all(ended.map((id) => api.readJob({ job_id: id }, { signal })))
      return jobs.flatMap(({ job_id: id, calls }) => calls.slice(-1).map((call) => [id, call] as const))
    },
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  })
  return new Map(read.data)
}
