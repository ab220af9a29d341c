import type { EventRecorder, FleetState } from '../../ports/kubernetes.ts'
import type { ObjectRef } from '../../ports/resource-store.ts'
import type { ScalingMetrics } from '../../ports/metrics.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { ScalingCondition } from './scaling-plan.ts'

export interface ScalingReportOptions {
  readonly events: EventRecorder
  readonly metrics: ScalingMetrics
  readonly clock: Clock
  readonly logger: Logger
}

/** Events are kept for an hour, so lasting trouble is recorded again and can always be found. */
const REPEAT_TROUBLE_MS = 10 * 60_000
const ACTION = 'ScaleExecutors'

/** Says why executors were or were not scaled: in events of the Deployment, the log and metrics. */
export function createScalingReport({ events, metrics, clock, logger }: ScalingReportOptions) {
  /** By reason, when it was last recorded. */
  const recorded = new Map<string, number>()

  function recordTrouble(ref: ObjectRef | null, { reason, message }: ScalingCondition): void {
    const nowMs = clock.monotonicMs()
    const before = recorded.get(reason)
    if (before === undefined) logger.warn('Executors cannot be scaled as needed', { reason, message })
    else if (nowMs - before < REPEAT_TROUBLE_MS) return
    recorded.set(reason, nowMs)
    if (ref !== null)
      events.record({ regarding: ref, type: 'Warning', reason, action: ACTION, note: message })
  }

  function forgetOthers(troubles: readonly ScalingCondition[]): void {
    const present = new Set(troubles.map(({ reason }) => reason))
    for (const reason of recorded.keys()) {
      if (present.has(reason)) continue
      recorded.delete(reason)
      logger.info('Executors can be scaled as needed again', { ended: reason })
    }
  }

  return {
    scaled: (fleet: FleetState, { replicas, note }: { replicas: number; note: string }): void => {
      const isMore = replicas > fleet.desired
      logger.info('Executors are scaled', { from: fleet.desired, to: replicas, why: note })
      events.record({
        regarding: fleet.ref,
        type: 'Normal',
        reason: isMore ? 'ScaledUp' : 'ScaledDown',
        action: ACTION,
        note: `From ${fleet.desired} to ${replicas} executors: ${note}.`,
      })
    },
    /** @param fleet null = it is not known */
    conditions: (fleet: FleetState | null, conditions: readonly ScalingCondition[]): void => {
      if (fleet !== null) metrics.executorReplicas(fleet.desired, fleet.current, fleet.ready)
      const isTrue = (type: ScalingCondition['type']) =>
        conditions.some((condition) => condition.type === type && condition.status === 'True')
      metrics.scalingActive(isTrue('ScalingActive'))
      metrics.scalingLimited(isTrue('ScalingLimited'))
      const troubles = conditions.filter(isTrouble)
      forgetOthers(troubles)
      for (const trouble of troubles) recordTrouble(fleet?.ref ?? null, trouble)
    },
    /** Removes the series, because another process may report from now on. */
    end: (): void => {
      recorded.clear()
      metrics.scalingEnded()
    },
  }
}

/** `LeftToOthers` is what the settings ask for, so it is no trouble. */
function isTrouble({ type, status, reason }: ScalingCondition): boolean {
  return reason !== 'LeftToOthers' && status === (type === 'ScalingActive' ? 'False' : 'True')
}
