import { ResourceApiError } from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import type { KubeObject } from '../../ports/kubernetes.ts'
import type { Clock } from '../../ports/runtime.ts'
import { CRON_FINALIZER, holdsFinalizer, QUEUE_FINALIZER } from '../../resources/finalizers.ts'
import { ignoreNotFound, isFault } from '../client/api-errors.ts'
import type { ResourceKind } from '../client/resource-path.ts'
import type { Transport } from '../client/transport.ts'
import { listObjects } from '../informer/reflector-list.ts'
import { NAMESPACES } from '../informer/selected-namespaces.ts'
import { HTTP_CRONS, HTTP_QUEUES } from './own-kinds.ts'
import { refOf } from './resource-edit.ts'
import { ApiResourceWriter } from './resource-writer.ts'

/** Crons first: their runs may make queues. */
const FINALIZED: ReadonlyArray<{ readonly kind: ResourceKind; readonly finalizer: string }> = [
  { kind: HTTP_CRONS, finalizer: CRON_FINALIZER },
  { kind: HTTP_QUEUES, finalizer: QUEUE_FINALIZER },
]
const POLL_MS = 1_000
/** Longer than the controller takes to make resources of queues that pushes have made: then no more come. */
const QUIET_MS = 5_000
const TRIES_MAX = 5

export interface LeavingOptions {
  readonly transport: Transport
  /** null = all, or by the selector. */
  readonly namespaces: readonly string[] | null
  /** null = all, or those of the list. */
  readonly labelSelector: string | null
  /** Selected whatever its labels. */
  readonly ownNamespace: string
  readonly clock: Clock
}

export interface RemovalOptions extends LeavingOptions {
  /** When to give up, monotonic. */
  readonly untilMs: number
  /** Whether one is to run: without any, those with a finalizer would be waited for in vain. */
  readonly hasController: () => Promise<boolean>
}

/** Takes our finalizers off, so that resources can be deleted while no controller runs. @returns of how many */
export async function releaseResources(options: LeavingOptions): Promise<number> {
  let released = 0
  for (const { kind, finalizer } of FINALIZED) {
    const writer = new ApiResourceWriter({ ...options, kind, fieldManager: 'punctual-controller' })
    for (const object of await listAll(options, kind)) {
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
  let quietSinceMs: number | null = null
  for (;;) {
    const left = await deleteAll(options, seen, canGo)
    const nowMs = clock.monotonicMs()
    if (left > 0) quietSinceMs = null
    else quietSinceMs ??= nowMs
    if (quietSinceMs !== null && nowMs - quietSinceMs >= QUIET_MS) return seen.size
    if (nowMs >= untilMs) {
      const text = `${left} resources are not gone yet: does a controller run, and can it reach Redis?`
      throw new ResourceApiError('unavailable', text)
    }
    await pause(clock, POLL_MS)
  }
}

/** @param seen uids of those that were asked to go; @returns how many are left */
async function deleteAll(options: LeavingOptions, seen: Set<string>, canGo: boolean): Promise<number> {
  let left = 0
  for (const { kind, finalizer } of FINALIZED) {
    const writer = new ApiResourceWriter({ ...options, kind, fieldManager: 'punctual-controller' })
    for (const object of await listAll(options, kind)) {
      left += 1
      if (seen.has(object.metadata.uid)) continue
      if (!canGo && holdsFinalizer(object, finalizer)) throw needsController(object)
      await writer.remove(refOf(object))
      seen.add(object.metadata.uid)
    }
  }
  return left
}

function needsController({ kind, metadata: { namespace, name } }: KubeObject): ResourceApiError {
  const text = `${kind} ${namespace}/${name} cannot go without a controller, and none is to run: scale its Deployment up first`
  return new ResourceApiError('unavailable', text)
}

async function listAll(options: LeavingOptions, kind: ResourceKind) {
  const { transport, namespaces } = options
  const selected = await selectedNamespaces(options)
  const objects: KubeObject[] = []
  for (const namespace of namespaces ?? [null]) {
    const listed = await ignoreNotFound(
      listObjects({ transport, kind, namespace }, new AbortController().signal),
    )
    // Without its definition a kind has no objects.
    const found = listed?.objects ?? []
    objects.push(...found.filter(({ metadata }) => selected?.has(metadata.namespace) ?? true))
  }
  return objects
}

/** Read anew each time: another installation may serve the others. null = there is no selector */
async function selectedNamespaces({ transport, labelSelector, ownNamespace }: LeavingOptions) {
  if (labelSelector === null) return null
  const { objects } = await listObjects(
    { transport, kind: NAMESPACES, namespace: null, labelSelector },
    new AbortController().signal,
  )
  return new Set([ownNamespace, ...objects.map(({ metadata }) => metadata.name)])
}
