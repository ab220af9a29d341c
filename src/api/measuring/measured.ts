import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { RequestMetrics } from '../../ports/metrics.ts'
import type { Clock } from '../../ports/runtime.ts'
import { notedTrace } from './request-trace.ts'

/** Routes that are answered before express looks at the request. */
const HOT_ROUTES: ReadonlySet<string> = new Set(['/api/jobs', '/api/jobs/batch'])
/** How long a stream is open says nothing. */
const STREAM_ROUTE = '/api/events'
/** Pages, files, and what was refused before its route was known. */
const OTHER = 'other'
const BEGUN = Symbol('begun')

interface Measured extends ServerResponse {
  [BEGUN]?: number
}

/** Counts the requests of a listener and how long they take. A request costs one listener, which all share. */
export function measured(
  listener: RequestListener,
  { requests, clock }: { readonly requests: RequestMetrics; readonly clock: Pick<Clock, 'monotonicMs'> },
): RequestListener {
  function ended(this: Measured): void {
    const route = routeOf(this.req)
    const seconds = route === STREAM_ROUTE ? null : (clock.monotonicMs() - (this[BEGUN] ?? 0)) / 1_000
    const code = this.headersSent ? this.statusCode : null
    requests.answered(this.req.method ?? '', route, code, seconds, notedTrace(this))
  }
  return (request, response) => {
    ;(response as Measured)[BEGUN] = clock.monotonicMs()
    response.on('close', ended)
    listener(request, response)
  }
}

/** Templates in the spelling of the contract, by that of express. */
const templates = new Map<string, string>()

function routeOf(request: IncomingMessage & { readonly route?: { readonly path?: unknown } }): string {
  const path = request.route?.path
  if (typeof path !== 'string') {
    const { url = '' } = request
    return request.method === 'POST' && HOT_ROUTES.has(url) ? url : OTHER
  }
  let template = templates.get(path)
  if (template === undefined) templates.set(path, (template = path.replace(/:(\w+)/g, '{$1}')))
  return template
}
