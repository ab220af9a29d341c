import type { Registry } from 'prom-client'
import type { ReconcileMetrics } from '../ports/metrics.ts'
import { Series } from './series.ts'

/** Buckets from a reconcile that changes nothing to the longest one allowed. */
const RECONCILE_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** A key of low priority may wait for minutes after a start with many resources. */
const WAIT_SECONDS = [0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 180, 600]

/** The controller's series about its workqueues, under the names of controller-runtime with our prefix. */
export function createReconcileMetrics(registry: Registry): ReconcileMetrics {
  const series = new Series(registry)
  const total = series.counter('punctual_reconcile_total', 'Reconciles, by result.', 'controller', 'result')
  const errors = series.counter(
    'punctual_reconcile_errors_total',
    'Reconciles that failed, without conflicts, which are retried at once.',
    'controller',
  )
  const seconds = series.histogram('punctual_reconcile_time_seconds', {
    help: 'Duration of a reconcile.',
    seconds: RECONCILE_SECONDS,
    labels: ['controller'],
  })
  const workers = series.gauge('punctual_active_workers', 'Reconciles in progress.', 'controller')
  return {
    reconciled: (controller, result, duration) => {
      total.inc({ controller, result })
      errors.inc({ controller }, result === 'error' ? 1 : 0)
      seconds.observe({ controller }, duration)
    },
    workersActive: (controller, count) => workers.set({ controller }, count),
    ...queueMetrics(series),
    ...leaderMetrics(series),
  }
}

type QueueMetrics = Pick<ReconcileMetrics, 'queueDepth' | 'keyAdded' | 'keyRetried' | 'keyWaited'>

function queueMetrics(series: Series): QueueMetrics {
  const depth = series.gauge(
    'punctual_workqueue_depth',
    'Keys waiting for a worker.',
    'controller',
    'priority',
  )
  const adds = series.counter('punctual_workqueue_adds_total', 'Keys added to the workqueue.', 'controller')
  const retries = series.counter(
    'punctual_workqueue_retries_total',
    'Keys added again because their reconcile failed.',
    'controller',
  )
  const wait = series.histogram('punctual_workqueue_queue_duration_seconds', {
    help: 'How long a key waited for a worker.',
    seconds: WAIT_SECONDS,
    labels: ['controller'],
  })
  return {
    queueDepth: (controller, priority, keys) => depth.set({ controller, priority }, keys),
    keyAdded: (controller) => adds.inc({ controller }),
    keyRetried: (controller) => retries.inc({ controller }),
    keyWaited: (controller, seconds) => wait.observe({ controller }, seconds),
  }
}

function leaderMetrics(series: Series): Pick<ReconcileMetrics, 'leading' | 'eventsDropped'> {
  const leader = series.gauge('punctual_leader', '1 while this process is the leader.')
  const dropped = series.counter(
    'punctual_events_dropped_total',
    'Kubernetes events that were discarded: too many were waiting, or the API server refused them.',
  )
  return {
    leading: (isLeading) => leader.set(Number(isLeading)),
    eventsDropped: (count) => dropped.inc(count),
  }
}
