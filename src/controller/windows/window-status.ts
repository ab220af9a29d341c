import { WINDOWS_PER_TEAM_MAX } from '../../domain/limits.ts'
import type { WindowResource } from '../../domain/windows/maintenance-window.ts'
import type { WindowState } from '../../domain/windows/window-openings.ts'
import { kubernetesTime, type WantedCondition } from '../../resources/conditions.ts'
import type { MaintenanceWindowStatus } from '../../resources/generated/kinds.ts'
import type { MaintenanceWindow } from '../kinds.ts'
import {
  invalidSpec,
  RECONCILED,
  reconciledStatus,
  unavailable,
  type Unavailable,
} from '../reconcile/ready-conditions.ts'

/** Says how the reconcile of a window ended. */
export type WindowOutcome =
  | { readonly kind: 'applied' }
  | { readonly kind: 'refused'; readonly problem: string }
  | { readonly kind: 'too_many' }

export interface WindowFacts {
  /** The state of the window that is in force; null = it is not known, and the status keeps what it says. */
  readonly state: WindowState | null
  /** The resource that the window names and that does not exist; null = it exists, or none is named. */
  readonly missing: WindowResource | null
  readonly wallMs: number
}

type Wanted = WantedCondition<'MaintenanceWindow'>
type TimeFields = Omit<MaintenanceWindowStatus, 'observedGeneration' | 'conditions'>

/** Builds the whole status, which equals the one before if nothing has changed. */
export function windowStatus(
  window: MaintenanceWindow,
  outcome: WindowOutcome | Unavailable,
  { state, missing, wallMs }: WindowFacts,
): MaintenanceWindowStatus {
  const conditions = [...conditionsOf(outcome), ...resourceFound(window, missing)]
  return {
    ...(outcome.kind === 'too_many' ? { active: false } : state === null ? keptOf(window) : fieldsOf(state)),
    ...reconciledStatus<'MaintenanceWindow'>(window, conditions, wallMs),
  }
}

function fieldsOf({ isOpen, sinceMs, endMs, nextStartMs }: WindowState): TimeFields {
  return {
    active: isOpen,
    ...(sinceMs === null ? {} : { activeSince: kubernetesTime(sinceMs) }),
    ...(endMs === null ? {} : { endTime: kubernetesTime(endMs) }),
    ...(nextStartMs === null ? {} : { nextStartTime: kubernetesTime(nextStartMs) }),
  }
}

function keptOf({ status = {} }: MaintenanceWindow): TimeFields {
  const { observedGeneration: _generation, conditions: _conditions, ...fields } = status
  return { active: false, ...fields }
}

function conditionsOf(outcome: WindowOutcome | Unavailable): readonly Wanted[] {
  switch (outcome.kind) {
    case 'applied':
      return [{ ...RECONCILED, message: 'The window is applied.' }]
    case 'refused':
      return invalidSpec(`${outcome.problem} What was applied earlier stays.`)
    case 'too_many': {
      const message = `The namespace has ${WINDOWS_PER_TEAM_MAX} older maintenance windows, the most allowed: this one is not in force.`
      return [{ type: 'Ready', status: 'False', reason: 'TooManyWindows', message }]
    }
    case 'unavailable':
      return unavailable(outcome)
  }
}

function resourceFound(window: MaintenanceWindow, missing: WindowResource | null): readonly Wanted[] {
  const { resource } = window.spec
  if (resource === undefined) return []
  if (missing === null) {
    const message = `${resource.kind} ${JSON.stringify(resource.name)} exists.`
    return [{ type: 'ResourceFound', status: 'True', reason: 'Found', message }]
  }
  const named = missing.kind === 'queue' ? 'HttpQueue with the queue name' : 'HttpCron'
  const message = `There is no ${named} ${JSON.stringify(missing.name)} in ${window.metadata.namespace}: the window applies once it exists.`
  return [{ type: 'ResourceFound', status: 'False', reason: 'NotFound', message }]
}
