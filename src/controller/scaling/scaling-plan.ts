import { DUE_HORIZON_MS, OLD_READY_MS } from '../../domain/limits.ts'
import type { Backlog } from '../../ports/queues.ts'
import type { FleetState } from '../../ports/kubernetes.ts'
import { askFor, type ScalingHistory } from './scaling-history.ts'

export interface ScalingSettings {
  /** Who sets the number of executors: the controller, an autoscaler of the cluster's, or the chart. */
  readonly mode: 'builtin' | 'external' | 'fixed'
  /** Not above `max`. */
  readonly min: number
  readonly max: number
  /** Calls that one executor pod should carry before another is asked for, from 1. */
  readonly callsPerPod: number
  /** Fewer pods must have been enough for this long before there are fewer. */
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
  /** null = leave the number as it is. */
  readonly change: { readonly replicas: number; readonly note: string } | null
  readonly conditions: readonly ScalingCondition[]
  /** For the next plan; null = it begins anew. */
  readonly history: ScalingHistory | null
}

export interface ScalingInput {
  /** null = it could not be read. */
  readonly backlog: Backlog | null
  /** null = there is no such Deployment. */
  readonly fleet: FleetState | null
  readonly history: ScalingHistory | null
  readonly settings: ScalingSettings
  /** Monotonic. */
  readonly nowMs: number
}

/**
 * How many executors there should be: as many as the calls need that the queues' own limits let run, at once when that
 * is more, and when it is less only after the window, to the most that was asked for within it. Decides, does nothing.
 */
export function planScaling({ backlog, fleet, history, settings, nowMs }: ScalingInput): ScalingPlan {
  if (settings.mode !== 'builtin') {
    return handsOff('LeftToOthers', 'The number of executors is left to whoever sets it on the Deployment.')
  }
  if (fleet === null) return handsOff('DeploymentNotFound', 'There is no such Deployment of executors.')
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
  const { asked, highest } = askFor(before.asked, within, { nowMs, windowMs: settings.downMs })
  const note = noteOf(highest, { demand, fleet, settings })
  return {
    change: highest === fleet.desired ? null : { replicas: highest, note },
    conditions: [
      { type: 'ScalingActive', status: 'True', reason: 'MetricAvailable', message: sentence(demand.why) },
      limitOf(demand.replicas, settings.max),
    ],
    history: { asked, raisedAtMs: highest > fleet.desired ? nowMs : before.raisedAtMs },
  }
}

/** What there is at the start counts as asked for: who has just begun to look knows of no window yet. */
function beginWith(replicas: number, nowMs: number): ScalingHistory {
  return { asked: [{ replicas, atMs: nowMs }], raisedAtMs: null }
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

/** The largest of what each rule asks for; the first one says why. */
function demandOf(backlog: Backlog, context: DemandContext): Demand {
  const { fleet, settings } = context
  const { usable, inFlight } = backlog
  const demands: Demand[] = [
    {
      replicas: Math.ceil(usable / settings.callsPerPod),
      why: `${calls(usable)} could run, ${settings.callsPerPod} per executor`,
    },
    {
      // Calls beyond a limit that was lowered, or of a paused queue, keep their executors and need no others.
      replicas: Math.min(fleet.desired, Math.ceil(inFlight / settings.callsPerPod)),
      why: `${calls(inFlight)} under way`,
    },
    {
      replicas: hasWork(backlog) ? 1 : 0,
      why: `work is under way or due within ${DUE_HORIZON_MS / 1000} s`,
    },
    {
      // Each executor needs a call that it could make.
      replicas: isTooSlow(backlog, context) ? Math.min(fleet.desired + 1, usable) : 0,
      why: `the oldest job that could start has waited for ${Math.round((backlog.oldestReadyMs ?? 0) / 1000)} s`,
    },
  ]
  const most = demands.reduce((best, demand) => (demand.replicas > best.replicas ? demand : best))
  return most.replicas > 0 ? most : { replicas: 0, why: 'nothing is ready, under way or due soon' }
}

/** Executors promote what is due: without one nothing would ever start. */
function hasWork({ ready, inFlight, dueSoon, nextDueInMs }: Backlog): boolean {
  return ready > 0 || inFlight > 0 || dueSoon > 0 || (nextDueInMs !== null && nextDueInMs <= DUE_HORIZON_MS)
}

/** There are as many executors as were asked for, and time enough to tell, and jobs still wait for room. */
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
  // What is held counts as asked for, so that the window begins anew once there is something to go by.
  const { asked } = askFor(before.asked, Math.min(settings.max, replicas), {
    nowMs,
    windowMs: settings.downMs,
  })
  const message = 'What there is to do cannot be read from Redis: the number of executors stays as it is.'
  return {
    change: null,
    conditions: [{ type: 'ScalingActive', status: 'False', reason: 'MetricUnavailable', message }],
    history: { ...before, asked },
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
    const message = 'There may be as many executors as are wanted.'
    return { type: 'ScalingLimited', status: 'False', reason: 'WithinBounds', message }
  }
  const message = `${wanted} executors are wanted, ${max} are allowed.`
  return { type: 'ScalingLimited', status: 'True', reason: 'TooManyReplicas', message }
}

function noteOf(
  replicas: number,
  { demand, fleet, settings }: { demand: Demand; fleet: FleetState; settings: ScalingSettings },
): string {
  const { min, max, downMs } = settings
  if (replicas === demand.replicas) return demand.why
  if (Math.max(demand.replicas, fleet.desired) > max) return `${max} are allowed at most`
  if (replicas === min) return `${min} are kept at least`
  return `no more were asked for in the last ${downMs / 1000} s`
}

function calls(count: number): string {
  return count === 1 ? '1 call' : `${count} calls`
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
