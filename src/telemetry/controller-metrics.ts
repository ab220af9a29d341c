import { STOP_REASONS } from '../domain/jobs/queues/ready-split.ts'
import type { Registry } from 'prom-client'
import { THROTTLE_REASONS } from '../domain/jobs/flow.ts'
import type { ControllerMetrics } from '../ports/metrics.ts'
import { Series } from './series.ts'

/** The controller's series about resources and the engine. What only a leader counts is exported by it alone. */
export function createControllerMetrics(registry: Registry): ControllerMetrics {
  const series = new Series(registry)
  const losses = series.counterOf(
    'punctual_engine_losses_total',
    'Times that Redis turned out to hold other data, or an older copy of its own.',
    { reason: ['EngineLost', 'EngineRestored'] },
  )
  const held = series.gauge(
    'punctual_engine_held',
    '1 on the leader while it can apply settings; if it is 0 on every controller, none are applied.',
  )
  const queuesLeftBehind = series.counter(
    'punctual_queues_left_behind_total',
    'Deleted HttpQueue resources that were released although Redis did not respond.',
  )
  const cronsLeftBehind = series.counter(
    'punctual_crons_left_behind_total',
    'Deleted HttpCron resources that were released although Redis did not respond.',
  )
  const orphanQueues = series.gauge('punctual_orphan_queues', 'Queues without a resource, at the last check.')
  const orphanCrons = series.gauge('punctual_orphan_crons', 'Crons without a resource, at the last check.')
  const waiting = series.gauge(
    'punctual_pushed_queues_waiting',
    'Pushed queues that get no resource because their namespace has too many; a lower bound if there are very many.',
  )
  const overQuota = series.gauge(
    'punctual_crons_over_quota',
    'HttpCron resources that are not applied because they exceed a quota of their team.',
  )
  const counts = countMetrics(series)
  const statuses = series.counter('punctual_statuses_written_total', 'Statuses written, by kind.', 'kind')
  const leadingEnded = () => {
    for (const gauge of [orphanQueues, orphanCrons, waiting]) gauge.remove()
    counts.forget()
  }
  leadingEnded()
  return {
    engineLost: (reason) => losses.inc({ reason }),
    engineHeld: (isHeld) => held.set(Number(isHeld)),
    queueLeftBehind: () => queuesLeftBehind.inc(),
    cronLeftBehind: () => cronsLeftBehind.inc(),
    orphanQueues: (count) => orphanQueues.set(count),
    orphanCrons: (count) => orphanCrons.set(count),
    cronsOverQuota: (count) => overQuota.set(count),
    pushedQueuesWaiting: (count) => waiting.set(count),
    leadingEnded,
    queuesCounted: counts.queuesCounted,
    queuesThrottled: counts.queuesThrottled,
    readyJobsCounted: counts.readyJobsCounted,
    statusWritten: (kind) => statuses.inc({ kind }),
  }
}

/** What a count of the jobs of all queues finds. */
function countMetrics(
  series: Series,
): Pick<ControllerMetrics, 'queuesCounted' | 'queuesThrottled' | 'readyJobsCounted'> & { forget(): void } {
  const rounds = series.counter(
    'punctual_queue_count_rounds_total',
    'Times that the jobs of all queues with a resource were counted.',
  )
  const throttled = series.gauge(
    'punctual_queues_throttled',
    'Queues with a resource that may not begin jobs, at the last count, by reason.',
    'reason',
  )
  const startable = series.gauge(
    'punctual_startable_jobs',
    'Ready jobs of queues with a resource that only waited for a slot of an executor, at the last count.',
  )
  const stopped = series.gauge(
    'punctual_stopped_jobs',
    'Ready jobs of queues with a resource that something else kept from starting, at the last count, by reason.',
    'reason',
  )
  const oldest = series.gauge(
    'punctual_oldest_startable_job_seconds',
    'For how long the oldest startable job of a queue with a resource had been due, at the last count; 0 = there was none.',
  )
  const forget = (): void => {
    for (const gauge of [throttled, stopped]) gauge.reset()
    for (const gauge of [startable, oldest]) gauge.remove()
  }
  forget()
  return {
    queuesCounted: () => rounds.inc(),
    queuesThrottled: (counts) => {
      for (const reason of THROTTLE_REASONS) throttled.set({ reason }, counts[reason])
    },
    readyJobsCounted: (counts) => {
      startable.set(counts.startable)
      oldest.set(counts.oldestStartableMs / 1_000)
      for (const reason of STOP_REASONS) stopped.set({ reason }, counts.stopped[reason])
    },
    forget,
  }
}
