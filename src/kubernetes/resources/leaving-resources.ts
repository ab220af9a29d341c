import { ResourceApiError, isFault } from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import { type KubeObject, refOf } from '../../ports/resource-store.ts'
import type { Clock } from '../../ports/runtime.ts'
import { CRON_FINALIZER, holdsFinalizer, QUEUE_FINALIZER } from '../../resources/finalizers.ts'
import { ignoreNotFound } from '../client/api-errors.ts'
import { collectionPath, type ResourceKind } from '../client/resource-path.ts'
import type { Transport } from '../client/transport.ts'
import { listObjects } from '../informer/reflector-list.ts'
import { NAMESPACES } from '../informer/selected-namespaces.ts'
import { HTTP_CRONS, HTTP_QUEUES } from './own-kinds.ts'
import { ApiResourceWriter } from './resource-writer.ts'

/** Crons come first, as their runs may make queues. */
const FINALIZED: ReadonlyArray<{ readonly kind: ResourceKind; readonly finalizer: string }> = [
  { kind: HTTP_CRONS, finalizer: CRON_FINALIZER },
  { kind: HTTP_QUEUES, finalizer: QUEUE_FINALIZER },
]
const POLL_MS = 1_000
/**
 * Longer than the controller takes to make resources of queues that pushes have made, so that afterwards no more come.
 */
const QUIET_MS = 5_000
/**
 * For this long only one namespace is read. It may cease to be served meanwhile, and then its resources are not waited
 * for.
 */
const RELIST_MS = 30_000
const TRIES_MAX = 5

export interface LeavingOptions {
  readonly transport: Transport
  /** null = all namespaces, or those of the selector. */
  readonly namespaces: readonly string[] | null
  /** null = all namespaces, or those of the list. */
  readonly labelSelector: string | null
  /** This namespace is selected whatever its labels are. */
  readonly ownNamespace: string
  readonly clock: Clock
}

export interface RemovalOptions extends LeavingOptions {
  /** When to give up, by the monotonic clock. */
  readonly untilMs: number
  /** Tells whether a controller is to run: without one, resources with a finalizer would be waited for in vain. */
  readonly hasController: () => Promise<boolean>
}

/** Removes our finalizers, so that resources can be deleted while no controller runs. @returns how many had one */
export async function releaseResources(options: LeavingOptions): Promise<number> {
  let released = 0
  const selected = await selectedNamespaces(options)
  for (const { kind, finalizer } of FINALIZED) {
    const writer = new ApiResourceWriter({ ...options, kind, fieldManager: 'punctual-controller' })
    for (const object of await listAll(options, kind, selected)) {
      if (!holdsFinalizer(object, finalizer)) continue
      await release(writer, object, finalizer)
      released += 1
    }
  }
  return released
}

async function release(writer: ApiResourceWriter<KubeObject>, object: KubeObject, finalizer: string) {
  let found: KubeObject | null = object
  for (let tries = 1; found !== null; tries += 1) {
    try {
      await ignoreNotFound(writer.setFinalizer(found, finalizer, false))
      return
    } catch (error) {
      if (!isFault(error, 'conflict') || tries === TRIES_MAX) throw error
      found = await writer.read(object.metadata.namespace, object.metadata.name)
    }
  }
}

/**
 * Deletes all crons and queues while a controller runs, which removes their data, and waits until they are gone.
 * @returns how many there were
 */
export async function removeResources(options: RemovalOptions): Promise<number> {
  const { clock, untilMs, hasController } = options
  const seen = new Set<string>()
  const canGo = await hasController()
  for (let isQuiet = false; ;) {
    const { count, last } = await deleteAll(options, seen, canGo)
    if (last === null && isQuiet) return seen.size
    isQuiet = last === null
    if (last === null) await pause(clock, QUIET_MS)
    else if (clock.monotonicMs() < untilMs) await untilEmpty(options, last, seen)
    else {
      const text = `${count} resources are not gone yet: does a controller run, and can it reach Redis?`
      throw new ResourceApiError('unavailable', text)
    }
  }
}

interface Place {
  readonly kind: ResourceKind
  readonly namespace: string
}

interface Left {
  readonly count: number
  /** Where the last resource is; null = there is none. */
  readonly last: Place | null
}

/** @param seen uids of resources whose deletion was asked for */
async function deleteAll(options: LeavingOptions, seen: Set<string>, canGo: boolean): Promise<Left> {
  let count = 0
  let last: Place | null = null
  const selected = await selectedNamespaces(options)
  for (const { kind, finalizer } of FINALIZED) {
    const writer = new ApiResourceWriter({ ...options, kind, fieldManager: 'punctual-controller' })
    for (const object of await listAll(options, kind, selected)) {
      count += 1
      last = { kind, namespace: object.metadata.namespace }
      if (seen.has(object.metadata.uid)) continue
      if (!canGo && holdsFinalizer(object, finalizer)) throw needsController(object)
      await writer.remove(refOf(object))
      seen.add(object.metadata.uid)
    }
  }
  return { count, last }
}

/**
 * Waits where the last resources are, which mostly go last: listing a large cluster every second would burden its API
 * server. Ends early when it finds one whose deletion was not asked for, and when all is to be listed anew.
 */
async function untilEmpty(
  { transport, clock, untilMs }: RemovalOptions,
  { kind, namespace }: Place,
  seen: ReadonlySet<string>,
): Promise<void> {
  const endMs = Math.min(untilMs, clock.monotonicMs() + RELIST_MS)
  const first = { method: 'GET', path: collectionPath(kind, namespace), query: { limit: 1 } } as const
  do {
    await pause(clock, POLL_MS)
    const found = await ignoreNotFound(
      transport.request<{ readonly items: readonly KubeObject[] | null }>(first),
    )
    const uid = found?.items?.[0]?.metadata.uid
    if (uid === undefined || !seen.has(uid)) return
  } while (clock.monotonicMs() < endMs)
}

function needsController({ kind, metadata: { namespace, name } }: KubeObject): ResourceApiError {
  const text = `${kind} ${namespace}/${name} cannot go without a controller, and none is to run: scale its Deployment up first`
  return new ResourceApiError('unavailable', text)
}

async function listAll(
  { transport, namespaces }: LeavingOptions,
  kind: ResourceKind,
  selected: ReadonlySet<string> | null,
) {
  const objects: KubeObject[] = []
  for (const namespace of namespaces ?? [null]) {
    const listed = await ignoreNotFound(
      listObjects({ transport, kind, namespace }, new AbortController().signal),
    )
    // A kind without a definition has no objects.
    const found = listed?.objects ?? []
    objects.push(...found.filter(({ metadata }) => selected?.has(metadata.namespace) ?? true))
  }
  return objects
}

/** Reads anew each time, as another installation may serve the others by then. null = there is no selector. */
async function selectedNamespaces({ transport, labelSelector, ownNamespace }: LeavingOptions) {
  if (labelSelector === null) return null
  const { objects } = await listObjects(
    { transport, kind: NAMESPACES, namespace: null, labelSelector },
    new AbortController().signal,
  )
  return new Set([ownNamespace, ...objects.map(({ metadata }) => metadata.name)])
}
