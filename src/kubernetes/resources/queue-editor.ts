import { isDeepStrictEqual } from 'node:util'
import { EditRefusedError, ResourceApiError } from '../../domain/errors.ts'
import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { KubeObject, Informer, ResourceWriter } from '../../ports/kubernetes.ts'
import type { Queue, QueueEditor, QueueStore } from '../../ports/queues.ts'
import type { HttpQueueSpec } from '../../resources/generated/kinds.ts'
import { holdsFinalizer, ownerOf, queueKey, queueKeyOf } from '../../resources/queue-owner.ts'
import { pushedQueueResource } from '../../resources/manifests/queue-manifest.ts'
import { settingsOfSpec, specOfSettings } from '../../resources/queue-spec.ts'
import { answered, notWatched, refOf, untilTrue } from './edit-answer.ts'

interface HttpQueue extends KubeObject {
  readonly spec: HttpQueueSpec
}

/** Index of the view: `queueKeyOf`. */
const BY_QUEUE = 'queue'

export const EDITOR_INDEXES: Readonly<Record<string, (queue: HttpQueue) => readonly string[]>> = {
  [BY_QUEUE]: (queue) => [queueKeyOf(queue)],
}

export interface QueueEditorParts {
  readonly queues: Pick<QueueStore, 'get' | 'remove'>
  readonly view: Pick<Informer<HttpQueue>, 'isSynced' | 'byIndex'>
  readonly writer: Pick<ResourceWriter<HttpQueue>, 'create' | 'patchSpec' | 'remove' | 'read' | 'readAll'>
  /** Whether resources of this namespace are ours to write. */
  readonly isWatched: (namespace: string) => boolean
  readonly clock: Clock
}

/**
 * Edits go to the queue's HttpQueue, so that resource and engine agree; one that a push has made and that has none
 * yet gets it. Throws EditRefusedError with the API server's own words, ResourceApiError when that is away.
 */
export function createResourceEditor(parts: QueueEditorParts): QueueEditor {
  return {
    edit: async (team, queueId, change) => {
      const queue = await parts.queues.get(team, queueId)
      if (queue === null) return null
      if (!parts.isWatched(team)) throw notWatched('Queues', team)
      const written = await answered(parts.clock, () => write(parts, queue, change))
      return inForce(parts, { ...queue, settings: written })
    },
    remove: async (team, queueId) => {
      const queue = await parts.queues.get(team, queueId)
      if (queue === null) return 'not_found'
      const seen = resourcesOf(parts, queue)
      const resources = seen.length > 0 ? seen : await readResources(parts, queue)
      // A queue made by a push may have no resource yet, or none for good.
      if (resources.length === 0) return removeWithoutResource(parts, queue)
      await removeResources(parts, resources)
      const uids = new Set(resources.map(({ metadata }) => metadata.uid))
      await untilTrue(
        parts.clock,
        async () =>
          (await parts.queues.get(team, queueId)) === null &&
          resourcesOf(parts, queue).every(({ metadata }) => !uids.has(metadata.uid)),
      )
      return 'removed'
    },
  }
}

/** The controller may be making a resource of it right now: that one would bring the queue back, empty. */
async function removeWithoutResource(
  parts: QueueEditorParts,
  queue: Queue,
): ReturnType<QueueEditor['remove']> {
  const end = await parts.queues.remove(queue.team, queue.name)
  await removeResources(parts, await readResources(parts, queue))
  return end
}

async function removeResources(parts: QueueEditorParts, resources: readonly HttpQueue[]): Promise<void> {
  const last = lastToGo(resources)
  const inOrder = resources.toSorted((left, right) => Number(left === last) - Number(right === last))
  for (const resource of inOrder) await answered(parts.clock, () => parts.writer.remove(refOf(resource)))
}

/** The owner: else its name would pass to another one of them. But what goes without a finalizer takes no queue along. */
function lastToGo(resources: readonly HttpQueue[]): HttpQueue | undefined {
  const owner = ownerOf(resources)
  if (owner !== undefined && holdsFinalizer(owner)) return owner
  return resources.find(holdsFinalizer) ?? owner
}

/** @returns the settings as the API server has them now */
async function write(
  parts: QueueEditorParts,
  queue: Queue,
  change: Partial<QueueSettings>,
): Promise<QueueSettings> {
  const owner = ownerOf(resourcesOf(parts, queue))
  if (owner === undefined) return make(parts, queue, change)
  if (owner.metadata.deletionTimestamp !== undefined)
    throw new EditRefusedError('The queue is being deleted.')
  return patch(parts, owner, change)
}

async function patch(
  { writer }: QueueEditorParts,
  owner: HttpQueue,
  change: Partial<QueueSettings>,
): Promise<QueueSettings> {
  const { spec } = await writer.patchSpec(refOf(owner), { ...specOfSettings(change) }, null)
  return settingsOfSpec(spec)
}

async function make(
  parts: QueueEditorParts,
  queue: Queue,
  change: Partial<QueueSettings>,
): Promise<QueueSettings> {
  const { team, name } = queue
  const resource = pushedQueueResource(queue, { ...queue.settings, ...change })
  try {
    return settingsOfSpec((await parts.writer.create(resource)).spec)
  } catch (error) {
    if (!(error instanceof ResourceApiError) || error.fault !== 'conflict') throw error
    // The controller was faster, and the view is behind.
    const found = await parts.writer.read(team, resource.metadata.name)
    if (found === null || queueKeyOf(found) !== queueKey(team, name)) throw error
    return patch(parts, found, change)
  }
}

/** The queue once the engine has it as written; after a while, as written. */
async function inForce({ queues, clock }: QueueEditorParts, written: Queue): Promise<Queue | null> {
  let now: Queue | null = null
  const isInForce = await untilTrue(clock, async () => {
    now = await queues.get(written.team, written.queueId)
    return now === null || isDeepStrictEqual({ ...now.settings }, { ...written.settings })
  })
  return isInForce ? now : written
}

function resourcesOf({ view }: QueueEditorParts, { team, name }: Queue): readonly HttpQueue[] {
  if (!view.isSynced()) throw new ResourceApiError('unavailable', 'the resources are not all known yet')
  return view.byIndex(BY_QUEUE, queueKey(team, name))
}

/** Asked of the API server itself: a copy that is behind would let the resource bring back what was removed. */
async function readResources(parts: QueueEditorParts, { team, name }: Queue): Promise<readonly HttpQueue[]> {
  if (!parts.isWatched(team)) return []
  const resources = await answered(parts.clock, () => parts.writer.readAll(team))
  return resources.filter((resource) => queueKeyOf(resource) === queueKey(team, name))
}
