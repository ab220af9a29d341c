import type { ServerResponse } from 'node:http'
import type { TraceContext } from '../../domain/net/trace-context.ts'

const TRACE = Symbol('trace')

interface Traced extends ServerResponse {
  [TRACE]?: TraceContext
}

/** Notes in which trace a request is answered, for its log lines and its exemplar. */
export function noteTrace(response: ServerResponse, trace: TraceContext): void {
  ;(response as Traced)[TRACE] = trace
}

/** undefined = in none. */
export function notedTrace(response: ServerResponse): TraceContext | undefined {
  return (response as Traced)[TRACE]
}
