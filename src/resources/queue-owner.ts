import { holdsFinalizer, isDeleted, QUEUE_FINALIZER } from './finalizers.ts'

/** The parts of an HttpQueue that decide which queue it stands for. */
export interface NamedQueue {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly uid: string
    readonly creationTimestamp: string
    readonly deletionTimestamp?: string
    readonly finalizers?: readonly string[]
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly spec: { readonly queueName?: string }
}

/** The label of resources that Punctual created: `push` for pushed queues, `api` for crons made by the API. */
export const ORIGIN_LABEL = 'punctual.dev/origin'
export const PUSH_ORIGIN = 'push'
export const API_ORIGIN = 'api'

/** The name that jobs are pushed to. */
export function queueNameOf(resource: NamedQueue): string {
  return resource.spec.queueName ?? resource.metadata.name
}

/**
 * Makes one key for all resources of one queue: `team/queue name`. A team has no slash, a queue's name may have one.
 */
export function queueKeyOf(resource: NamedQueue): string {
  return queueKey(resource.metadata.namespace, queueNameOf(resource))
}

export function queueKey(team: string, name: string): string {
  return `${team}/${name}`
}

export function parseKey(key: string): { readonly team: string; readonly name: string } {
  const end = key.indexOf('/')
  return { team: key.slice(0, end), name: key.slice(end + 1) }
}

/**
 * Tells whether a push created it. Only the label counts, so setting it by hand means that the resource may be
 * replaced.
 */
export function isPushed(resource: NamedQueue): boolean {
  return resource.metadata.labels?.[ORIGIN_LABEL] === PUSH_ORIGIN
}

/**
 * Picks the resource that stands for a queue: the oldest one that no push created, else the oldest one. If two were
 * created in the same second, the one that was applied wins. A deleted owner keeps the name until its jobs are removed,
 * except that a pushed resource which was not fully taken over gets the queue and its jobs back.
 */
export function ownerOf<T extends NamedQueue>(resources: readonly T[]): T | undefined {
  const byRank = resources.filter((resource) => !isReleased(resource)).sort(byAge)
  const own = byRank.find((resource) => !isPushed(resource))
  if (own === undefined) return byRank[0]
  if (!isDeleted(own)) return own
  return byRank.find((resource) => isPushed(resource) && !isDeleted(resource)) ?? own
}

/**
 * A resource is released when it is deleted and lacks our finalizer. Another controller's finalizer may still keep it.
 */
function isReleased(resource: NamedQueue): boolean {
  return isDeleted(resource) && !holdsFinalizer(resource, QUEUE_FINALIZER)
}

function byAge(left: NamedQueue, right: NamedQueue): number {
  const ages = Date.parse(left.metadata.creationTimestamp) - Date.parse(right.metadata.creationTimestamp)
  if (ages !== 0) return ages
  const held = Number(holdsFinalizer(right, QUEUE_FINALIZER)) - Number(holdsFinalizer(left, QUEUE_FINALIZER))
  if (held !== 0) return held
  return left.metadata.name < right.metadata.name ? -1 : 1
}
