import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import { holdsFinalizer, isDeleted, isPushed, ownerOf } from '../../resources/queue-owner.ts'
import type { HttpQueue } from '../kinds.ts'
import type { QueueCheck } from './queue-check.ts'

/** What is to happen to one queue, seen from all resources of its name. */
export interface QueuePlan {
  readonly step: QueueStep
  /** Resources whose name another one has. They change nothing in the engine, not even when they are deleted. */
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
  if (isDeleted(owner)) return { kind: 'remove', owner }
  const checked = check(owner)
  return 'problem' in checked ? { kind: 'refuse', owner, ...checked } : { kind: 'apply', owner, ...checked }
}

export type OwnedStep = Exclude<QueueStep, { kind: 'vanished' }>

/**
 * What becomes of a resource whose name the step's owner has.
 * - `release`: it is deleted, and the finalizer must go: it was written by hand, or the name was lost.
 * - `dismiss`: made by a push, and a user's resource is in force in its place: it goes without its queue.
 * - `tell`: it stays, and says so.
 */
export type TakenEnd = 'release' | 'dismiss' | 'tell' | 'nothing'

export function endOfTaken(taken: HttpQueue, step: OwnedStep): TakenEnd {
  if (isDeleted(taken)) return holdsFinalizer(taken) ? 'release' : 'nothing'
  // One that is refused holds no finalizer: were it deleted then, nothing would be left to stand for the jobs.
  return step.kind === 'apply' && givesWay(taken, step.owner) ? 'dismiss' : 'tell'
}

/** A pushed resource to a user's; between two of a kind the older has the name. */
export function givesWay(taken: HttpQueue, owner: HttpQueue): boolean {
  return isPushed(taken) && !isPushed(owner)
}
