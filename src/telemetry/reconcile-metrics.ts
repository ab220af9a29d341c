import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { ReconcileMetrics } from '../ports/metrics.ts'

/** From a look that changes nothing to the time a turn may take at most. */
const RECONCILE_BUCKETS_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** A key of low priority may wait for minutes after a start with many resources. */
const WAIT_BUCKETS_SECONDS = [0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 180, 600]

/** The series of the controller; other roles leave them off. */
export function createReconcileMetrics(registry: Registry): ReconcileMetrics {
  return { ...reconcileSeries(registry), ...queueSeries(registry), ...leaderSeries(registry) }
}

function reconcileSeries(registry: Registry): Pick<ReconcileMetrics, 'reconciled' | 'workersActive'> {
  const registers = [registry]
  const total = new Counter({
    name: 'punctual_reconcile_total',
    help: 'Turns of reconcilers by how they ended.',
    labelNames: ['controller', 'result'],
    registers,
  })
  const errors = new Counter({
    name: 'punctual_reconcile_errors_total',
    help: 'Turns of reconcilers that failed; conflicts, which are tried again at once, are not among them.',
    labelNames: ['controller'],
    registers,
  })
  const seconds = new Histogram({
    name: 'punctual_reconcile_time_seconds',
    help: 'How long a turn took.',
    labelNames: ['controller'],
    buckets: RECONCILE_BUCKETS_SECONDS,
    registers,
  })
  const workers = new Gauge({
    name: 'punctual_active_workers',
    help: 'Turns under way.',
    labelNames: ['controller'],
    registers,
  })
  return {
    reconciled: (controller, result, duration) => {
      total.inc({ controller, result })
      errors.inc({ controller }, result === 'error' ? 1 : 0)
      seconds.observe({ controller }, duration)
    },
    workersActive: (controller, count) => workers.set({ controller }, count),
  }
}

type QueueSeries = Pick<ReconcileMetrics, 'queueDepth' | 'keyAdded' | 'keyRetried' | 'keyWaited'>

function queueSeries(registry: Registry): QueueSeries {
  const registers = [registry]
  const depth = new Gauge({
    name: 'punctual_workqueue_depth',
    help: 'Keys that wait for a worker.',
    labelNames: ['controller', 'priority'],
    registers,
  })
  const adds = new Counter({
    name: 'punctual_workqueue_adds_total',
    help: 'Keys put in line.',
    labelNames: ['controller'],
    registers,
  })
  const retries = new Counter({
    name: 'punctual_workqueue_retries_total',
    help: 'Keys put in line again after a turn that failed.',
    labelNames: ['controller'],
    registers,
  })
  const wait = new Histogram({
    name: 'punctual_workqueue_queue_duration_seconds',
    help: 'From the line to a worker.',
    labelNames: ['controller'],
    buckets: WAIT_BUCKETS_SECONDS,
    registers,
  })
  return {
    queueDepth: (controller, priority, keys) => depth.set({ controller, priority }, keys),
    keyAdded: (controller) => adds.inc({ controller }),
    keyRetried: (controller) => retries.inc({ controller }),
    keyWaited: (controller, seconds) => wait.observe({ controller }, seconds),
  }
}

function leaderSeries(registry: Registry): Pick<ReconcileMetrics, 'leading' | 'eventsDropped'> {
  const leader = new Gauge({
    name: 'punctual_leader',
    help: '1 while this process leads.',
    registers: [registry],
  })
  const dropped = new Counter({
    name: 'punctual_events_dropped_total',
    help: 'Events that were not kept: too many waiting, or refused by the API server.',
    registers: [registry],
  })
  return {
    leading: (isLeading) => leader.set(isLeading ? 1 : 0),
    eventsDropped: (count) => dropped.inc(count),
  }
}
