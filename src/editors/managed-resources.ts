import { LruCache } from '../domain/lru-cache.ts'
import { EditRefusedError } from '../domain/errors.ts'
import { managerText, type ManagedBy } from '../domain/managed-by.ts'
import type { KubeObject, ResourceStore } from '../ports/resource-store.ts'
import type { ManagedResources } from '../ports/settings.ts'
import type { Clock } from '../ports/runtime.ts'
import { type NamedQueue, ownerOf } from '../resources/queue-owner.ts'

/** A cron is read from the API server no more often than this. */
const KNOWN_MS = 30_000
const KNOWN_MAX = 1_000
/** An answer about a cron waits this long for its manager. What comes later is there for the next answer. */
const WAIT_MS = 1_000
/** At most this many reads may run at once. While they do, further crons are shown without their manager. */
const READS_MAX = 20

const ARGO_TRACKING = 'argocd.argoproj.io/tracking-id'
const ARGO_INSTANCE = 'argocd.argoproj.io/instance'
const FLUX_NAMES = ['kustomize.toolkit.fluxcd.io/name', 'helm.toolkit.fluxcd.io/name']
const HELM_RELEASE = 'meta.helm.sh/release-name'
const KUBECTL = /^kubectl(?:$|-client-side-apply$)/

/** The manager of a resource. Whether its edits are refused is not said here, because the team decides that. */
export type Manager = Omit<ManagedBy, 'isReadOnly'>

/** null = nobody manages the resource: it was made by hand, by a push or by our API. */
export function managerOf({ kind, metadata }: KubeObject): Manager | null {
  const { labels = {}, annotations = {}, namespace, name, specApplier } = metadata
  // The value is `<application>:<group>/<kind>:<namespace>/<name>`. A copy of a tracked resource keeps the value of its
  // original.
  const [application, tracked] = /^([^:]+):(.*)$/.exec(annotations[ARGO_TRACKING] ?? '')?.slice(1) ?? []
  if (application !== undefined && tracked?.endsWith(`/${kind}:${namespace}/${name}`) === true) {
    return { tool: 'argo_cd', name: application }
  }
  const instance = labels[ARGO_INSTANCE]
  if (instance !== undefined) return { tool: 'argo_cd', name: instance }
  const flux = FLUX_NAMES.map((label) => labels[label]).find((found) => found !== undefined)
  if (flux !== undefined) return { tool: 'flux', name: flux }
  const release = annotations[HELM_RELEASE]
  if (release !== undefined) return { tool: 'helm', name: release }
  if (specApplier === undefined) return null
  return { tool: KUBECTL.test(specApplier) ? 'kubectl' : 'other', name: specApplier }
}

/** Tells whether the API must not edit what was applied in this namespace. */
export type IsReadOnly = (namespace: string) => boolean

/** Refuses to change an applied resource in a namespace where those are read-only. Throws EditRefusedError. */
export function refuseApplied(object: KubeObject, isReadOnly: IsReadOnly): void {
  const { namespace, name } = object.metadata
  const manager = isReadOnly(namespace) ? managerOf(object) : null
  if (manager === null) return
  throw new EditRefusedError(
    `${object.kind} ${name} is managed by ${managerText(manager)}, and what was applied is read-only here: change its manifest.`,
  )
}

/**
 * Finds the HttpQueues that stand for a queue of this name in a copy that may lag; null = the copy is not complete yet.
 */
export type ResourcesOfQueue<T extends KubeObject> = (team: string, queue: string) => readonly T[] | null

export interface ManagedResourcesOptions {
  readonly resourcesOf: ResourcesOfQueue<KubeObject & NamedQueue>
  readonly crons: Pick<ResourceStore<KubeObject>, 'read'>
  /** Tells whether we may read resources in this namespace. */
  readonly isWatched: (namespace: string) => boolean
  readonly isReadOnly: IsReadOnly
  readonly clock: Clock
}

export function createManagedResources(options: ManagedResourcesOptions): ManagedResources {
  const { resourcesOf, isReadOnly, clock } = options
  const managedBy = (namespace: string, manager: Manager | null): ManagedBy | null =>
    manager === null ? null : { ...manager, isReadOnly: isReadOnly(namespace) }
  let reads = 0
  const known = new LruCache<string, { readonly asked: Promise<Manager | null>; readonly untilMs: number }>(
    KNOWN_MAX,
  )
  return {
    ofQueue: (team, queue) => {
      const owner = ownerOf(resourcesOf(team, queue) ?? [])
      return owner === undefined
        ? null
        : { name: owner.metadata.name, managedBy: managedBy(team, managerOf(owner)) }
    },
    ofCron: async (team, name) => {
      if (!options.isWatched(team)) return null
      const key = `${team}/${name}`
      const nowMs = clock.monotonicMs()
      const found = known.get(key)
      if (found !== undefined && found.untilMs > nowMs)
        return managedBy(team, await soonOf(found.asked, clock))
      if (reads >= READS_MAX) return null
      reads += 1
      const asked = options.crons
        .read(team, name)
        .then((cron) => (cron === null ? null : managerOf(cron)))
        .finally(() => (reads -= 1))
      known.set(key, { asked, untilMs: nowMs + KNOWN_MS })
      // A failed read is not kept, so that the next request asks again.
      asked.catch(() => known.delete(key))
      return managedBy(team, await soonOf(asked, clock))
    },
  }
}

/** Waits a second at most. null also stands for a read that fails or is too late. */
async function soonOf(asked: Promise<Manager | null>, clock: Clock): Promise<Manager | null> {
  const late = Promise.withResolvers<null>()
  const cancel = clock.after(WAIT_MS, () => late.resolve(null))
  try {
    return await Promise.race([asked.catch(() => null), late.promise])
  } finally {
    cancel()
  }
}
