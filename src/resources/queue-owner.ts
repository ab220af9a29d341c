/** What of an HttpQueue decides which queue it stands for. */
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

/** Keeps a deleted HttpQueue until its queue and jobs are gone from the engine. */
export const QUEUE_FINALIZER = 'punctual.dev/queue'

/** Label of resources that nobody wrote: `push` for pushed queues, `api` for crons made by the API. */
export const ORIGIN_LABEL = 'punctual.dev/origin'
export const PUSH_ORIGIN = 'push'
export const API_ORIGIN = 'api'

/** The name that jobs are pushed to. */
export function queueNameOf(resource: NamedQueue): string {
  return resource.spec.queueName ?? resource.metadata.name
}

/** One key for all resources of one queue: `team/queue name`. A team has no slash, a queue's name may. */
export function queueKeyOf(resource: NamedQueue): string {
  return queueKey(resource.metadata.namespace, queueNameOf(resource))
}

export function queueKey(team: string, name: string): string {
  return `${team}/${name}`
}

export function placeOfKey(key: string): { readonly team: string; readonly name: string } {
  const end = key.indexOf('/')
  return { team: key.slice(0, end), name: key.slice(end + 1) }
}

export function holdsFinalizer(resource: NamedQueue): boolean {
  return resource.metadata.finalizers?.includes(QUEUE_FINALIZER) === true
}

/** Made for a pushed queue. The label alone tells: whoever puts it on says that the resource gives way. */
export function isPushed(resource: NamedQueue): boolean {
  return resource.metadata.labels?.[ORIGIN_LABEL] === PUSH_ORIGIN
}

export function isDeleted(resource: NamedQueue): boolean {
  return resource.metadata.deletionTimestamp !== undefined
}

/**
 * Which of the resources of one queue is in force: the oldest that no push has made, else the oldest, and of two of the
 * same second the one that is in force already. One that is being deleted keeps the name until its jobs are gone; but a
 * pushed resource that is still there, so not wholly taken over, has its queue and the jobs back.
 */
export function ownerOf<T extends NamedQueue>(resources: readonly T[]): T | undefined {
  const byRank = resources.filter((resource) => !isGivenUp(resource)).sort(byAge)
  const own = byRank.find((resource) => !isPushed(resource))
  if (own === undefined) return byRank[0]
  if (!isDeleted(own)) return own
  return byRank.find((resource) => isPushed(resource) && !isDeleted(resource)) ?? own
}

/** Deleted, with our part done; a finalizer of someone else still keeps it. */
function isGivenUp(resource: NamedQueue): boolean {
  return isDeleted(resource) && !holdsFinalizer(resource)
}

function byAge(left: NamedQueue, right: NamedQueue): number {
  const ages = Date.parse(left.metadata.creationTimestamp) - Date.parse(right.metadata.creationTimestamp)
  if (ages !== 0) return ages
  const held = Number(holdsFinalizer(right)) - Number(holdsFinalizer(left))
  if (held !== 0) return held
  return left.metadata.name < right.metadata.name ? -1 : 1
}
