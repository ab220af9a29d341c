import { WINDOWS_PER_TEAM_MAX } from '../../domain/limits.ts'
import type { WindowResource, WindowSettings } from '../../domain/windows/maintenance-window.ts'
import { WindowOpenings } from '../../domain/windows/window-openings.ts'
import type { Informer, ObjectKey, Reconciler } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import type { Clock } from '../../ports/runtime.ts'
import { isDeleted } from '../../resources/finalizers.ts'
import { parseKey, queueKey } from '../../resources/queue-owner.ts'
import { settingsOfWindowSpec } from '../../resources/window-spec.ts'
import { BY_NAMESPACE, BY_QUEUE, keyOf, refOf, type MaintenanceWindow } from '../kinds.ts'
import type { ReconcilerParts } from '../reconcile/reconciler-parts.ts'
import { CHANGE_PENDING, StatusWriter } from '../reconcile/status-writer.ts'
import { isDeletionConfirmed } from '../teams/confirmed-deletion.ts'
import type { WindowCheck } from './window-check.ts'
import { windowStatus, type WindowOutcome } from './window-status.ts'

export interface WindowReconcilerParts extends ReconcilerParts<MaintenanceWindow> {
  readonly check: WindowCheck
  readonly queues: Pick<Informer<KubeObject>, 'byIndex' | 'whenSynced'>
  readonly crons: Pick<Informer<KubeObject>, 'get' | 'whenSynced'>
  readonly enqueue: (key: ObjectKey, priority: 'high' | 'low') => void
}

/** A timer of Node cannot wait for longer than 24 days, and a clock that was set is noticed after this time. */
const LOOK_AGAIN_MS = 3_600_000

/**
 * Keys are `namespace/name`. Writes a status at each start and end of a window. Owns the openings of the windows as they
 * are applied: an invalid edit leaves a window in force as it was.
 */
export function createWindowReconciler(parts: WindowReconcilerParts): Reconciler {
  const { informer, engine, clock, check } = parts
  const applied = new Map<ObjectKey, WindowOpenings>()
  const stateOf = (window: MaintenanceWindow) => applied.get(keyOf(window))?.at(clock.wallMs()) ?? null
  const status = new StatusWriter<MaintenanceWindow, WindowOutcome>({
    ...parts,
    kind: 'MaintenanceWindow',
    action: 'ApplyWindow',
    pending: () => CHANGE_PENDING,
    statusOf: (window, outcome) =>
      windowStatus(window, outcome, {
        state: stateOf(window),
        missing: missingOf(parts, window),
        wallMs: clock.wallMs(),
      }),
  })

  async function apply(window: MaintenanceWindow): Promise<WindowOutcome> {
    const { namespace: team, name } = window.metadata
    if (isOverBound(informer, window)) {
      await engine.write((compiler) => compiler.removeWindow(team, name))
      applied.delete(keyOf(window))
      return { kind: 'too_many' }
    }
    const checked = check(window)
    if ('problem' in checked) return { kind: 'refused', ...checked }
    // This comes first, so that a window whose times cannot be computed is never in force.
    const openings = computable(checked.settings, clock)
    await engine.write((compiler) => compiler.putWindow({ team, name, ...checked.settings }))
    applied.set(keyOf(window), openings)
    return { kind: 'applied' }
  }

  async function remove(key: ObjectKey): Promise<void> {
    if (!(await isDeletionConfirmed(parts.writer, key))) return
    const { team, name } = parseKey(key)
    await engine.write((compiler) => compiler.removeWindow(team, name))
    applied.delete(key)
    for (const other of informer.byIndex(BY_NAMESPACE, team)) {
      if (isRefusedAsTooMany(other)) parts.enqueue(keyOf(other), 'low')
    }
  }

  return {
    reconcile: async (key, signal) => {
      const window = informer.get(key)
      if (window === undefined || isDeleted(window)) {
        await remove(key)
        return { requeueAfterMs: null }
      }
      // Before they are synced, every resource would seem to be missing.
      if (window.spec.resource !== undefined)
        await Promise.all([parts.queues.whenSynced(signal), parts.crons.whenSynced(signal)])
      const wasActive = window.status?.active === true
      await status.report(window, () => apply(window))
      const state = stateOf(window)
      if (state === null) return { requeueAfterMs: null }
      if (state.isOpen !== wasActive) parts.events.record(edgeEvent(window, state.endMs, state.isOpen))
      return { requeueAfterMs: requeueAfterMs(clock, state.untilMs) }
    },
  }
}

function computable({ times }: WindowSettings, clock: Clock): WindowOpenings {
  const openings = new WindowOpenings(times)
  openings.at(clock.wallMs())
  return openings
}

function requeueAfterMs(clock: Clock, untilMs: number): number | null {
  return untilMs === Infinity ? null : Math.min(Math.max(1, untilMs - clock.wallMs()), LOOK_AGAIN_MS)
}

/** Only the oldest windows of a namespace count, up to the bound. */
function isOverBound(
  informer: Pick<Informer<MaintenanceWindow>, 'byIndex'>,
  window: MaintenanceWindow,
): boolean {
  let older = 0
  for (const other of informer.byIndex(BY_NAMESPACE, window.metadata.namespace)) {
    if (!isDeleted(other) && isOlder(other, window)) older += 1
    if (older >= WINDOWS_PER_TEAM_MAX) return true
  }
  return false
}

function isOlder({ metadata: left }: MaintenanceWindow, { metadata: right }: MaintenanceWindow): boolean {
  const ages = Date.parse(left.creationTimestamp) - Date.parse(right.creationTimestamp)
  return ages !== 0 ? ages < 0 : left.uid < right.uid
}

function isRefusedAsTooMany({ status }: MaintenanceWindow): boolean {
  return status?.conditions?.some(({ reason }) => reason === 'TooManyWindows') === true
}

function missingOf(
  { queues, crons }: Pick<WindowReconcilerParts, 'queues' | 'crons'>,
  { metadata: { namespace }, spec: { resource } }: MaintenanceWindow,
): WindowResource | null {
  if (resource === undefined) return null
  const { name } = resource
  const isFound =
    resource.kind === 'HttpQueue'
      ? queues.byIndex(BY_QUEUE, queueKey(namespace, name)).length > 0
      : crons.get(`${namespace}/${name}`) !== undefined
  return isFound ? null : { kind: resource.kind === 'HttpQueue' ? 'queue' : 'cron', name }
}

function edgeEvent(window: MaintenanceWindow, endMs: number | null, isOpen: boolean) {
  const shared = { regarding: refOf(window), type: 'Normal' as const, action: 'ApplyWindow' }
  if (!isOpen)
    return { ...shared, reason: 'WindowEnded', note: 'The maintenance window is not active any more.' }
  const what = effectOf(settingsOfWindowSpec(window.spec))
  const until = endMs === null ? '' : ` until ${new Date(endMs).toISOString()}`
  return { ...shared, reason: 'WindowStarted', note: `The maintenance window is active${until}: ${what}.` }
}

function effectOf({ action, resource }: Pick<WindowSettings, 'action' | 'resource'>): string {
  const what = resource === null ? 'the team' : `${resource.kind} ${JSON.stringify(resource.name)}`
  return action === 'hold'
    ? `jobs of ${what} wait, and its alerts are not sent`
    : `alerts of ${what} are not sent`
}
