import { Counter, Gauge, type Registry } from 'prom-client'
import type { ControllerMetrics } from '../ports/metrics.ts'

/** The series of the controller about resources and engine. */
export function createControllerMetrics(registry: Registry): ControllerMetrics {
  const registers = [registry]
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers })
  const counter = <Label extends string>(
    name: string,
    help: string,
    ...labelNames: Label[]
  ): Counter<Label> => new Counter({ name, help, labelNames, registers })
  const losses = counter(
    'punctual_engine_losses_total',
    'Times that the engine was found to be another one or an older copy.',
    'reason',
  )
  for (const reason of ['EngineLost', 'EngineRestored']) losses.inc({ reason }, 0)
  const held = gauge(
    'punctual_engine_held',
    '1 on the controller that leads while it can put settings in force; 0 on all of them is trouble.',
  )
  const queuesLeftBehind = counter(
    'punctual_queues_left_behind_total',
    'Deleted HttpQueue resources that were let go although Redis did not answer.',
  )
  const cronsLeftBehind = counter(
    'punctual_crons_left_behind_total',
    'Deleted HttpCron resources that were let go although Redis did not answer.',
  )
  const orphanQueues = gauge('punctual_orphan_queues', 'Queues in force without a resource, as found last.')
  const orphanCrons = gauge('punctual_orphan_crons', 'Crons in force without a resource, as found last.')
  const waiting = gauge(
    'punctual_pushed_queues_waiting',
    'Pushed queues that get no resource because their namespace has too many; at least, when they are many.',
  )
  const overQuota = gauge(
    'punctual_crons_over_quota',
    'HttpCron resources that are not in force, as their teams have too many or too large ones.',
  )
  const rounds = counter(
    'punctual_queue_count_rounds_total',
    'Times that the jobs of all queues with a resource were counted.',
  )
  const statuses = counter('punctual_statuses_written_total', 'Statuses written, by kind.', 'kind')
  return {
    engineLost: (reason) => losses.inc({ reason }),
    engineHeld: (isHeld) => held.set(Number(isHeld)),
    queueLeftBehind: () => queuesLeftBehind.inc(),
    cronLeftBehind: () => cronsLeftBehind.inc(),
    orphanQueues: (count) => orphanQueues.set(count),
    orphanCrons: (count) => orphanCrons.set(count),
    cronsOverQuota: (count) => overQuota.set(count),
    pushedQueuesWaiting: (count) => waiting.set(count),
    queuesCounted: () => rounds.inc(),
    statusWritten: (kind) => statuses.inc({ kind }),
  }
}
