import type { JobChain, JobRequest, LostField } from './job.ts'

/** Fields of a request that are to differ; null removes an optional one. */
export type RequestChange = Partial<Omit<JobRequest, 'cron' | 'successAssertions'>>

export type RequestCopy =
  | { readonly status: 'complete'; readonly request: JobRequest }
  /** These fields are no longer kept, and the change does not give them. */
  | { readonly status: 'not_kept'; readonly fields: readonly LostField[] }

/** The request of a chain with the given fields changed. */
export function copyRequest({ request, lost = [] }: JobChain, change: RequestChange): RequestCopy {
  const fields = lost.filter((field) => change[field] === undefined)
  if (fields.length > 0) return { status: 'not_kept', fields }
  const { headers, ...kept } = request
  return { status: 'complete', request: { ...kept, headers: headers ?? {}, ...change } }
}
