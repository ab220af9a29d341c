import { Counter, Gauge, type Registry } from 'prom-client'
import type { ControllerMetrics } from '../ports/controller-metrics.ts'

/** The series of the controller about resources and engine. */
export function createControllerMetrics(registry: Registry): ControllerMetrics {
  const registers = [registry]
  const losses = new Counter({
    name: 'punctual_engine_losses_total',
    help: 'Times that the engine was found to be another one or an older copy.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of ['EngineLost', 'EngineRestored']) losses.inc({ reason }, 0)
  const held = new Gauge({
    name: 'punctual_engine_held',
    help: '1 on the controller that leads while it can put settings in force; 0 on all of them is trouble.',
    registers,
  })
  const leftBehind = new Counter({
    name: 'punctual_queues_left_behind_total',
    help: 'Deleted resources that were let go although Redis did not answer.',
    registers,
  })
  const cronsLeftBehind = new Counter({
    name: 'punctual_crons_left_behind_total',
    help: 'Deleted HttpCron resources that were let go although Redis did not answer.',
    registers,
  })
  const orphanCrons = new Gauge({
    name: 'punctual_orphan_crons',
    help: 'Crons in force without a resource, as found last.',
    registers,
  })
  const orphans = new Gauge({
    name: 'punctual_orphan_queues',
    help: 'Queues in force without a resource, as found last.',
    registers,
  })
  const waiting = new Gauge({
    name: 'punctual_pushed_queues_waiting',
    help: 'Pushed queues that get no resource because their namespace has too many; at least, when they are many.',
    registers,
  })
  const rounds = new Counter({
    name: 'punctual_queue_count_rounds_total',
    help: 'Times that the jobs of all queues with a resource were counted.',
    registers,
  })
  const statuses = new Counter({
    name: 'punctual_statuses_written_total',
    help: 'Statuses written, by kind.',
    labelNames: ['kind'],
    registers,
  })
  return {
    engineLost: (reason) => losses.inc({ reason }),
    engineHeld: (isHeld) => held.set(Number(isHeld)),
    queueLeftBehind: () => leftBehind.inc(),
    cronLeftBehind: () => cronsLeftBehind.inc(),
    orphanCrons: (count) => orphanCrons.set(count),
    orphanQueues: (count) => orphans.set(count),
    pushedQueuesWaiting: (count) => waiting.set(count),
    queuesCounted: () => rounds.inc(),
    statusWritten: (kind) => statuses.inc({ kind }),
  }
}
