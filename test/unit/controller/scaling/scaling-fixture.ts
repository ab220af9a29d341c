import type { ScalingSettings } from '../../../../src/controller/scaling/scaling-plan.ts'
import type { Backlog } from '../../../../src/ports/queues.ts'
import type { FleetState } from '../../../../src/ports/kubernetes.ts'

export const SCALING: ScalingSettings = {
  mode: 'builtin',
  min: 0,
  max: 10,
  callsPerPod: 200,
  downMs: 120_000,
}

export const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  namespace: 'punctual',
  name: 'punctual-executor',
  uid: '6e3f0a52-0000-4000-8000-000000000001',
}

export const IDLE: Backlog = {
  ready: 0,
  inFlight: 0,
  usable: 0,
  dueSoon: 0,
  nextDueInMs: null,
  oldestReadyMs: null,
  held: new Map(),
}

export function backlogOf(parts: Partial<Backlog> = {}): Backlog {
  return { ...IDLE, ...parts }
}

/** A fleet at rest: as many as are wanted, all ready. */
export function fleetOf(desired: number, parts: Partial<FleetState> = {}): FleetState {
  return { ref: DEPLOYMENT, desired, current: desired, ready: desired, otherScaler: null, ...parts }
}
