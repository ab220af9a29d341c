import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Clock } from '../ports/runtime.ts'
import type { ClusterMetrics } from '../ports/metrics.ts'

/** To the deadline of a request. */
const REQUEST_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The series of roles that talk to the Kubernetes API; others leave them off. */
export function createClusterMetrics(registry: Registry, clock: Clock): ClusterMetrics {
  const registers = [registry]
  const requests = new Counter({
    name: 'punctual_kube_requests_total',
    help: 'Requests to the Kubernetes API by how they were answered; code "none" when no answer came.',
    labelNames: ['verb', 'code'],
    registers,
  })
  const seconds = new Histogram({
    name: 'punctual_kube_request_duration_seconds',
    help: 'From the request to the head of the answer.',
    labelNames: ['verb'],
    buckets: REQUEST_BUCKETS_SECONDS,
    registers,
  })
  const restarts = new Counter({
    name: 'punctual_kube_watch_restarts_total',
    help: 'Watches and lists of the Kubernetes API that ended, by why.',
    labelNames: ['resource', 'reason'],
    registers,
  })
  const heard = new Gauge({
    name: 'punctual_kube_watch_last_event_timestamp_seconds',
    help: 'When a list or a watch last brought anything; of several namespaces the one silent for longest. Bookmarks come about every minute.',
    labelNames: ['resource'],
    registers,
  })
  /** By resource, then by namespace. */
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
