import { Gauge, type Registry } from 'prom-client'
import type { ScalingMetrics } from '../ports/metrics.ts'

/** The series of the leading controller; a gauge that was never set, or was removed, has no line. */
export function createScalingMetrics(registry: Registry): ScalingMetrics {
  const [desired, current, active, limited] = [
    ['punctual_executor_replicas_desired', "Executors as written in the Deployment's scale."],
    ['punctual_executor_replicas_current', 'Executor pods that exist.'],
    ['punctual_scaling_active', '1 while the number of executors follows the work.'],
    ['punctual_scaling_limited', '1 while more executors are wanted than are allowed.'],
  ].map(([name = '', help = '']) => {
    const gauge = new Gauge({ name, help, registers: [registry] })
    gauge.remove()
    return gauge
  }) as [Gauge, Gauge, Gauge, Gauge]
  return {
    executorReplicas: (wanted, existing) => {
      desired.set(wanted)
      current.set(existing)
    },
    scalingActive: (isActive) => active.set(isActive ? 1 : 0),
    scalingLimited: (isLimited) => limited.set(isLimited ? 1 : 0),
    scalingEnded: () => {
      for (const gauge of [desired, current, active, limited]) gauge.remove()
    },
  }
}
