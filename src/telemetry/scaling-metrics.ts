import type { Registry } from 'prom-client'
import type { ScalingMetrics } from '../ports/metrics.ts'
import { Series } from './series.ts'

/** The series of the controller that scales the executors. A gauge that is not set, or was removed, is not exported. */
export function createScalingMetrics(registry: Registry): ScalingMetrics {
  const series = new Series(registry)
  const desired = series.gauge(
    'punctual_executor_replicas_desired',
    "Executors wanted: the replicas in the Deployment's scale.",
  )
  const current = series.gauge('punctual_executor_replicas_current', 'Executor pods that exist.')
  const readyNow = series.gauge('punctual_executor_replicas_ready', 'Executor pods that are ready.')
  const active = series.gauge('punctual_scaling_active', '1 while the number of executors follows the work.')
  const limited = series.gauge(
    'punctual_scaling_limited',
    '1 while more executors are needed than are allowed.',
  )
  const scalingEnded = () => {
    for (const gauge of [desired, current, readyNow, active, limited]) gauge.remove()
  }
  scalingEnded()
  return {
    executorReplicas: (wanted, existing, ready) => {
      desired.set(wanted)
      current.set(existing)
      readyNow.set(ready)
    },
    scalingActive: (isActive) => active.set(Number(isActive)),
    scalingLimited: (isLimited) => limited.set(Number(isLimited)),
    scalingEnded,
  }
}
