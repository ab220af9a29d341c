import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import { holdsFinalizer, isDeleted, QUEUE_FINALIZER } from '../../resources/finalizers.ts'
import { isPushed, ownerOf } from '../../resources/queue-owner.ts'
import type { HttpQueue } from '../kinds.ts'
import type { ObjectPlan, Plan } from '../reconcile/resource-reconciler.ts'
import type { QueueCheck } from './queue-check.ts'
import type { QueueOutcome } from './queue-conditions.ts'

export type QueuePlan = ObjectPlan<HttpQueue, QueueSettings, QueueOutcome>

/** Decides what happens to one queue. @param resources every resource of its name, in any order */
export function planQueue(
  resources: readonly HttpQueue[],
  check: QueueCheck,
): Plan<HttpQueue, QueueSettings, QueueOutcome> {
  const object = ownerOf(resources)
  if (object === undefined) return { kind: 'absent' }
  if (isDeleted(object)) return { kind: 'remove', object }
  const checked = check(object)
  return 'problem' in checked
    ? { kind: 'refuse', object, outcome: { kind: 'refused', ...checked } }
    : { kind: 'apply', object, desired: checked.settings }
}

/**
 * What happens to a resource whose queue name belongs to another one:
 * - `release`: it is deleted, so its finalizer, which was set by hand or before the name was lost, is removed.
 * - `delete`: a push created it, and a user's resource was applied in its place.
 * - `report`: it stays, and its status says why it is not applied.
 */
export type RivalEnd = 'release' | 'delete' | 'report' | 'nothing'

export function endOfRival(rival: HttpQueue, plan: QueuePlan): RivalEnd {
  if (isDeleted(rival)) return holdsFinalizer(rival, QUEUE_FINALIZER) ? 'release' : 'nothing'
  // A refused owner holds no finalizer. If it were deleted then, no resource would stand for the jobs.
  return plan.kind === 'apply' && givesWay(rival, plan.object) ? 'delete' : 'report'
}

/** A resource created for a push gives way to a user's; otherwise the older one has the name. */
export function givesWay(rival: HttpQueue, owner: HttpQueue): boolean {
  return isPushed(rival) && !isPushed(owner)
}
