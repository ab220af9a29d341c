import type { Registry } from 'prom-client'
import type { ClusterMetrics } from '../ports/metrics.ts'
import type { Clock } from '../ports/runtime.ts'
import { Series } from './series.ts'

/** Up to the deadline of a request. */
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The series of roles that use the Kubernetes API. */
export function createClusterMetrics(registry: Registry, clock: Clock): ClusterMetrics {
  const series = new Series(registry)
  const requests = series.counter(
    'punctual_kube_requests_total',
    'Requests to the Kubernetes API, by status code; code "none" if there was no response.',
    'verb',
    'code',
  )
  const seconds = series.histogram('punctual_kube_request_duration_seconds', {
    help: 'From the request to the head of its response.',
    seconds: REQUEST_SECONDS,
    labels: ['verb'],
  })
  const restarts = series.counter(
    'punctual_kube_watch_restarts_total',
    'Watches and lists of the Kubernetes API that ended, by reason.',
    'resource',
    'reason',
  )
  const heard = series.gauge(
    'punctual_kube_watch_last_event_timestamp_seconds',
    'When a list or a watch last received anything; with several namespaces, the one that has been silent for longest. Bookmarks come about every minute.',
    'resource',
  )
  /** Times by resource, then by namespace. */
  const heardAt = new Map<string, Map<string | null, number>>()
  function oldest(resource: string, namespace: string | null): number {
    const times = heardAt.get(resource) ?? new Map<string | null, number>()
    heardAt.set(resource, times.set(namespace, clock.wallMs() / 1000))
    return Math.min(...times.values())
  }
  return {
    requestEnded: (verb, code, duration) => {
      requests.inc({ verb, code: code === null ? 'none' : String(code) })
      seconds.observe({ verb }, duration)
    },
    watchEnded: (resource, reason) => restarts.inc({ resource, reason }),
    watchHeard: (resource, namespace) => heard.set({ resource }, oldest(resource, namespace)),
  }
}
