import { DUE_HORIZON_MS, OLD_READY_MS } from '../../domain/limits.ts'
import type { Backlog } from '../../ports/queues.ts'
import type { FleetState } from '../../ports/kubernetes.ts'
import { addNeed, type ScalingHistory } from './scaling-history.ts'

export interface ScalingSettings {
  /** Says who sets the number of executors: the controller, another autoscaler, or the chart. */
  readonly mode: 'builtin' | 'external' | 'fixed'
  /** Is not above `max`. */
  readonly min: number
  readonly max: number
  /** How many calls one executor should carry before another one is added, from 1. */
  readonly callsPerPod: number
  /** Executors are removed after fewer of them have been enough for this long. */
  readonly downMs: number
}

export interface ScalingCondition {
  readonly type: 'ScalingActive' | 'ScalingLimited'
  readonly status: 'True' | 'False'
  /** CamelCase, from a closed set. */
  readonly reason: string
  /** A sentence for people. */
  readonly message: string
}

export interface ScalingPlan {
  /** null = the number stays. */
  readonly change: { readonly replicas: number; readonly note: string } | null
  readonly conditions: readonly ScalingCondition[]
  /** What the next plan continues from; null = it starts from scratch. */
  readonly history: ScalingHistory | null
}

export interface ScalingInput {
  /** null = the backlog could not be read. */
  readonly backlog: Backlog | null
  /** null = there is no such Deployment. */
  readonly fleet: FleetState | null
  readonly history: ScalingHistory | null
  readonly settings: ScalingSettings
  /** The time by the monotonic clock. */
  readonly nowMs: number
}

/**
 * Decides how many executors there should be: enough for the calls that the queues' own limits let run. Scaling up is
 * immediate; scaling down goes to the highest need within the window.
 */
export function planScaling({ backlog, fleet, history, settings, nowMs }: ScalingInput): ScalingPlan {
  if (settings.mode !== 'builtin') {
    return handsOff(
      'LeftToOthers',
      'The controller does not set the number of executors in this scaling mode.',
    )
  }
  if (fleet === null) return handsOff('DeploymentNotFound', 'The Deployment of executors does not exist.')
  if (fleet.otherScaler !== null) {
    return handsOff(
      'ScalerConflict',
      `${fleet.otherScaler} scales the executors too: remove it, or set the scaling mode to external.`,
    )
  }
  const before = history ?? beginWith(Math.min(settings.max, fleet.desired), nowMs)
  if (backlog === null) return hold(before, fleet.desired, { settings, nowMs })

  const demand = demandOf(backlog, { fleet, settings, nowMs, raisedAtMs: before.raisedAtMs })
  const within = Math.min(settings.max, Math.max(settings.min, demand.replicas))
  const { needs, highest } = addNeed(before.needs, within, { nowMs, windowMs: settings.downMs })
  const note = noteOf(highest, { demand, fleet, settings })
  return {
    change: highest === fleet.desired ? null : { replicas: highest, note },
    conditions: [
      { type: 'ScalingActive', status: 'True', reason: 'MetricAvailable', message: sentence(demand.why) },
      limitOf(demand.replicas, settings.max),
    ],
    history: { needs, raisedAtMs: highest > fleet.desired ? nowMs : before.raisedAtMs },
  }
}

/** The current number counts as needed, because a new leader does not know the window before it. */
function beginWith(replicas: number, nowMs: number): ScalingHistory {
  return { needs: [{ replicas, atMs: nowMs }], raisedAtMs: null }
}

interface Demand {
  readonly replicas: number
  readonly why: string
}

interface DemandContext {
  readonly fleet: FleetState
  readonly settings: ScalingSettings
  readonly nowMs: number
  readonly raisedAtMs: number | null
}

/** Answers the largest demand of all rules. Of equal ones the first says why. */
function demandOf(backlog: Backlog, context: DemandContext): Demand {
  const { fleet, settings } = context
  const { usable, inFlight } = backlog
  const demands: Demand[] = [
    {
      replicas: Math.ceil(usable / settings.callsPerPod),
      why: `${calls(usable)} could run, ${settings.callsPerPod} per executor`,
    },
    {
      // Calls above a lowered limit, or of a paused queue, keep their executors but need no more of them.
      replicas: Math.min(fleet.desired, Math.ceil(inFlight / settings.callsPerPod)),
      why: `${calls(inFlight)} in flight`,
    },
    {
      replicas: hasWork(backlog) ? 1 : 0,
      why: `work is in flight or due within ${DUE_HORIZON_MS / 1000} s`,
    },
    {
      // More executors than calls that could run would be idle.
      replicas: isTooSlow(backlog, context) ? Math.min(fleet.desired + 1, usable) : 0,
      why: `the oldest job that could start has waited for ${Math.round((backlog.oldestReadyMs ?? 0) / 1000)} s`,
    },
  ]
  const most = demands.reduce((best, demand) => (demand.replicas > best.replicas ? demand : best))
  return most.replicas > 0 ? most : { replicas: 0, why: 'nothing is ready, in flight or due soon' }
}

/** Executors promote due jobs, so without one nothing would ever start. */
function hasWork({ ready, inFlight, dueSoon, nextDueInMs }: Backlog): boolean {
  return ready > 0 || inFlight > 0 || dueSoon > 0 || (nextDueInMs !== null && nextDueInMs <= DUE_HORIZON_MS)
}

/**
 * Tells whether jobs still wait although all executors are ready, long enough after the last scale-up, with calls left
 * to make.
 */
function isTooSlow(backlog: Backlog, { fleet, nowMs, raisedAtMs }: DemandContext): boolean {
  return (
    backlog.oldestReadyMs !== null &&
    backlog.oldestReadyMs > OLD_READY_MS &&
    backlog.inFlight < backlog.usable &&
    fleet.ready >= fleet.desired &&
    (raisedAtMs === null || nowMs - raisedAtMs >= OLD_READY_MS)
  )
}

function hold(
  before: ScalingHistory,
  replicas: number,
  { settings, nowMs }: { readonly settings: ScalingSettings; readonly nowMs: number },
): ScalingPlan {
  // The held number counts as needed, so that the window starts again once the backlog can be read.
  const { needs } = addNeed(before.needs, Math.min(settings.max, replicas), {
    nowMs,
    windowMs: settings.downMs,
  })
  const message = 'The backlog cannot be read from Redis: the number of executors stays.'
  return {
    change: null,
    conditions: [{ type: 'ScalingActive', status: 'False', reason: 'MetricUnavailable', message }],
    history: { ...before, needs },
  }
}

function handsOff(reason: string, message: string): ScalingPlan {
  return {
    change: null,
    conditions: [{ type: 'ScalingActive', status: 'False', reason, message }],
    history: null,
  }
}

function limitOf(wanted: number, max: number): ScalingCondition {
  if (wanted <= max) {
    const message = 'The number of executors needed is within the bounds.'
    return { type: 'ScalingLimited', status: 'False', reason: 'WithinBounds', message }
  }
  const message = `${wanted} executors are needed, ${max} are allowed.`
  return { type: 'ScalingLimited', status: 'True', reason: 'TooManyReplicas', message }
}

function noteOf(
  replicas: number,
  { demand, fleet, settings }: { demand: Demand; fleet: FleetState; settings: ScalingSettings },
): string {
  const { min, max, downMs } = settings
  if (replicas === demand.replicas) return demand.why
  if (Math.max(demand.replicas, fleet.desired) > max) return `the maximum is ${max}`
  if (replicas === min) return `the minimum is ${min}`
  return `no more were needed in the last ${downMs / 1000} s`
}

function calls(count: number): string {
  return count === 1 ? '1 call' : `${count} calls`
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
