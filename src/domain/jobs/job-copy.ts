import type { TraceContext } from '../net/trace-context.ts'
import type { JobChain, JobRequest, LostField } from './job.ts'

/** Fields of a request that are to differ; null removes an optional one. */
export type RequestChange = Partial<
  Omit<JobRequest, 'cron' | 'successAssertions' | 'callDepth' | 'bulkId' | 'trace'>
>

export type RequestCopy =
  | { readonly status: 'complete'; readonly request: JobRequest }
  /** These fields are no longer kept, and the change does not give them. */
  | { readonly status: 'not_kept'; readonly fields: readonly LostField[] }

/** The request of a chain with the given fields changed, at least as deep as the call that asks for it. */
export function copyRequest(
  { request, lost = [] }: JobChain,
  change: RequestChange,
  callDepth: number,
): RequestCopy {
  const fields = lost.filter((field) => change[field] === undefined)
  if (fields.length > 0) return { status: 'not_kept', fields }
  const { headers, ...kept } = request
  const copy = ofBulk({ ...kept, headers: headers ?? {}, ...change }, null)
  return { status: 'complete', request: deepened(copy, callDepth) }
}

/** The request of a job that this bulk makes, or none: a copy is not of the bulk that made the original. */
export function ofBulk(request: JobRequest, bulkId: number | null): JobRequest {
  const { bulkId: former, ...others } = request
  if (bulkId !== null) return { ...others, bulkId }
  return former === undefined ? request : others
}

/** The request of a job that belongs to this trace; null = it stays as it is. */
export function traced(request: JobRequest, trace: TraceContext | null): JobRequest {
  return trace === null ? request : { ...request, trace }
}

/** A copy of a request must not be less deep than the original, or a job that copies itself would go on for ever. */
export function deepened(request: JobRequest, callDepth: number): JobRequest {
  return callDepth > (request.callDepth ?? 0) ? { ...request, callDepth } : request
}
