import { useQueries } from '@tanstack/preact-query'
import type { Call, JobSummary } from '../../../../clients/typescript/src/client.ts'
import { api } from '../../api/client.ts'

/** The newest call of each attempt that has ended, by the id of its job; read once, since it does not change. */
export function useCalls(chain: readonly JobSummary[]): ReadonlyMap<number, Call> {
  const ended = chain.filter(({ completed_at: end }) => end !== null).map(({ job_id: id }) => id)
  const reads = useQueries({
    queries: ended.map((id) => ({
      queryKey: ['calls that have ended', id],
      queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Call | null> =>
        (await api.readJob({ job_id: id }, { signal })).calls.at(-1) ?? null,
      staleTime: Number.POSITIVE_INFINITY,
    })),
  })
  const found = ended.flatMap((id, at) => {
    const call = reads[at]?.data ?? null
    return call === null ? [] : [[id, call] as const]
  })
  return new Map(found)
}
