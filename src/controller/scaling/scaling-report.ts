import type { Clock, Logger } from '../../ports/runtime.ts'
import type { EventRecorder, FleetState, ObjectRef } from '../../ports/kubernetes.ts'
import type { ScalingMetrics } from '../../ports/metrics.ts'
import type { ScalingCondition } from './scaling-plan.ts'

/** Says why executors were scaled or could not be: as events of the Deployment, in the log and in metrics. */
export interface ScalingReport {
  scaled(fleet: FleetState, change: { readonly replicas: number; readonly note: string }): void
  /** @param fleet null when it is not known */
  conditions(fleet: FleetState | null, conditions: readonly ScalingCondition[]): void
  /** Tells nothing more until it is told something new. */
  end(): void
}

export interface ScalingReportOptions {
  readonly events: EventRecorder
  readonly metrics: ScalingMetrics
  readonly clock: Clock
  readonly logger: Logger
}

/** Events are kept for an hour: trouble that lasts is told again, so that whoever looks finds it. */
const TROUBLE_TOLD_EVERY_MS = 10 * 60_000
const ACTION = 'ScaleExecutors'

export function createScalingReport({ events, metrics, clock, logger }: ScalingReportOptions): ScalingReport {
  /** When the trouble of each reason was last told. */
  const told = new Map<string, number>()

  function tell(ref: ObjectRef | null, { reason, message }: ScalingCondition): void {
    const nowMs = clock.monotonicMs()
    const before = told.get(reason)
    if (before === undefined) logger.warn('Executors cannot be scaled as they should be', { reason, message })
    else if (nowMs - before < TROUBLE_TOLD_EVERY_MS) return
    told.set(reason, nowMs)
    if (ref !== null)
      events.record({ regarding: ref, type: 'Warning', reason, action: ACTION, note: message })
  }

  function forgetOthers(troubles: readonly ScalingCondition[]): void {
    const present = new Set(troubles.map(({ reason }) => reason))
    for (const reason of told.keys()) {
      if (present.has(reason)) continue
      told.delete(reason)
      logger.info('Executors can be scaled again as they should be', { ended: reason })
    }
  }

  return {
    scaled: (fleet, { replicas, note }) => {
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
    conditions: (fleet, conditions) => {
      if (fleet !== null) metrics.executorReplicas(fleet.desired, fleet.current)
      const isTrue = (type: ScalingCondition['type']) =>
        conditions.some((condition) => condition.type === type && condition.status === 'True')
      metrics.scalingActive(isTrue('ScalingActive'))
      metrics.scalingLimited(isTrue('ScalingLimited'))
      const troubles = conditions.filter(isTrouble)
      forgetOthers(troubles)
      for (const trouble of troubles) tell(fleet?.ref ?? null, trouble)
    },
    end: () => {
      told.clear()
      metrics.scalingEnded()
    },
  }
}

/** A number that is left to others is what someone wanted. */
function isTrouble({ type, status, reason }: ScalingCondition): boolean {
  return reason !== 'LeftToOthers' && status === (type === 'ScalingActive' ? 'False' : 'True')
}
