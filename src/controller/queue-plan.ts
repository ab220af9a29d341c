import type { QueueSettings } from '../domain/queue-settings.ts'
import { holdsFinalizer, ownerOf } from '../resources/queue-owner.ts'
import type { HttpQueue } from './kinds.ts'
import type { QueueCheck } from './queue-check.ts'

/** What is to happen to one queue, seen from all resources of its name. */
export interface QueuePlan {
  readonly step: QueueStep
  /** Resources whose name an older one has. They change nothing in the engine, not even when they are deleted. */
  readonly taken: readonly HttpQueue[]
}

export type QueueStep =
  /** No resource is left: there was none, or the last one went without its finalizer. */
  | { readonly kind: 'vanished' }
  /** Deleted by its owner: the queue and its jobs go first, the finalizer after them. */
  | { readonly kind: 'remove'; readonly owner: HttpQueue }
  /** The engine keeps what it has. */
  | { readonly kind: 'refuse'; readonly owner: HttpQueue; readonly problem: string }
  | { readonly kind: 'apply'; readonly owner: HttpQueue; readonly settings: QueueSettings }

/** @param resources every resource of one queue, in any order */
export function planQueue(resources: readonly HttpQueue[], check: QueueCheck): QueuePlan {
  const owner = ownerOf(resources)
  if (owner === undefined) return { step: { kind: 'vanished' }, taken: [] }
  return { step: stepOf(owner, check), taken: resources.filter((resource) => resource !== owner) }
}

function stepOf(owner: HttpQueue, check: QueueCheck): QueueStep {
  // One that was deleted and holds no finalizer of ours is no owner.
  if (owner.metadata.deletionTimestamp !== undefined) return { kind: 'remove', owner }
  const checked = check(owner)
  return 'problem' in checked ? { kind: 'refuse', owner, ...checked } : { kind: 'apply', owner, ...checked }
}

/** Whether the finalizer must go: it was written by hand, or the resource lost its name to an older one. */
export function mustRelease(taken: HttpQueue): boolean {
  return taken.metadata.deletionTimestamp !== undefined && holdsFinalizer(taken)
}
