import { LruCache } from '../../domain/lru-cache.ts'
import type { ManagedBy } from '../../domain/managed-by.ts'
import type { Informer, KubeObject, ResourceWriter } from '../../ports/kubernetes.ts'
import type { ManagedResources } from '../../ports/settings.ts'
import type { Clock } from '../../ports/runtime.ts'
import { type NamedQueue, ownerOf, queueKey } from '../../resources/queue-owner.ts'

/** A cron is read from the API server, at most so often. */
const KNOWN_MS = 30_000
const KNOWN_MAX = 1_000
/** An answer about a cron waits no longer for who manages it; the next one finds what has come meanwhile. */
const WAIT_MS = 1_000
/** Reads at the same time; beyond them a cron is shown without its manager. */
const READS_MAX = 20

const ARGO_TRACKING = 'argocd.argoproj.io/tracking-id'
const ARGO_INSTANCE = 'argocd.argoproj.io/instance'
const FLUX_NAMES = ['kustomize.toolkit.fluxcd.io/name', 'helm.toolkit.fluxcd.io/name']
const HELM_RELEASE = 'meta.helm.sh/release-name'
const KUBECTL = /^kubectl(?:$|-client-side-apply$)/

/** null when nobody does: it was made by hand, by a push or by our API. */
export function managedByOf({ kind, metadata }: KubeObject): ManagedBy | null {
  const { labels = {}, annotations = {}, namespace, name, specApplier } = metadata
  // `<application>:<group>/<kind>:<namespace>/<name>`: a copy of a tracked resource keeps that of its original.
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

export interface ManagedResourcesOptions {
  readonly queues: Pick<Informer<KubeObject & NamedQueue>, 'isSynced' | 'byIndex'>
  /** The index of `queues` by `queueKey`. */
  readonly index: string
  readonly crons: Pick<ResourceWriter<KubeObject>, 'read'>
  /** Whether we may read resources in this namespace. */
  readonly isWatched: (namespace: string) => boolean
  readonly clock: Clock
}

export function createManagedResources(options: ManagedResourcesOptions): ManagedResources {
  const { queues, index, clock } = options
  let reads = 0
  const known = new LruCache<string, { readonly asked: Promise<ManagedBy | null>; readonly untilMs: number }>(
    KNOWN_MAX,
  )
  return {
    ofQueue: (team, queue) => {
      const owner = queues.isSynced() ? ownerOf(queues.byIndex(index, queueKey(team, queue))) : undefined
      return owner === undefined ? null : { name: owner.metadata.name, managedBy: managedByOf(owner) }
    },
    ofCron: (team, name) => {
      if (!options.isWatched(team)) return Promise.resolve(null)
      const key = `${team}/${name}`
      const nowMs = clock.monotonicMs()
      const found = known.get(key)
      if (found !== undefined && found.untilMs > nowMs) return soonOf(found.asked, clock)
      if (reads >= READS_MAX) return Promise.resolve(null)
      reads += 1
      const asked = options.crons
        .read(team, name)
        .then((cron) => (cron === null ? null : managedByOf(cron)))
        .finally(() => (reads -= 1))
      known.set(key, { asked, untilMs: nowMs + KNOWN_MS })
      // A failed read is no answer: the next request asks again.
      asked.catch(() => known.delete(key))
      return soonOf(asked, clock)
    },
  }
}

/** null also for what fails or comes late. */
async function soonOf(asked: Promise<ManagedBy | null>, clock: Clock): Promise<ManagedBy | null> {
  const late = Promise.withResolvers<null>()
  const cancel = clock.after(WAIT_MS, () => late.resolve(null))
  try {
    return await Promise.race([asked.catch(() => null), late.promise])
  } finally {
    cancel()
  }
}
