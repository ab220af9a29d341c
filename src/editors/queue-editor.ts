import { EditRefusedError, ResourceApiError, isFault } from '../domain/errors.ts'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../domain/jobs/queue-settings.ts'
import { type KubeObject, refOf, type ResourceStore } from '../ports/resource-store.ts'
import type { Queue, QueueEditor, QueueStore } from '../ports/queues.ts'
import type { Clock } from '../ports/runtime.ts'
import type { HttpQueueSpec, HttpQueueStatus } from '../resources/generated/kinds.ts'
import { holdsFinalizer, QUEUE_FINALIZER } from '../resources/finalizers.ts'
import { pushedQueueResource } from '../resources/manifests/queue-manifest.ts'
import { ownerOf, queueKey, queueKeyOf } from '../resources/queue-owner.ts'
import { settingsOfSpec, specOfSettings } from '../resources/queue-spec.ts'
import { refuseApplied, type IsReadOnly, type ResourcesOfQueue } from './managed-resources.ts'
import {
  notWatched,
  pollUntil,
  refusalOf,
  whenApplied,
  withinTimeout,
  writeChecked,
} from './resource-edit.ts'

export interface HttpQueue extends KubeObject {
  readonly spec: HttpQueueSpec
  readonly status?: HttpQueueStatus
}

export interface QueueEditorOptions {
  readonly queues: Pick<QueueStore, 'get' | 'getByName' | 'remove'>
  readonly resourcesOf: ResourcesOfQueue<HttpQueue>
  readonly store: ResourceStore<HttpQueue>
  /** Tells whether we may write resources in this namespace. */
  readonly isWatched: (namespace: string) => boolean
  readonly isReadOnly: IsReadOnly
  readonly clock: Clock
}

/** A controller that is busy may take longer than for an edit; without one there is no queue to answer with. */
const CREATED_WAIT_MS = 8_000

type SettingsCheck = (current: QueueSettings) => void

interface QueueEdit {
  readonly change: Partial<QueueSettings>
  readonly check: SettingsCheck | undefined
}

/**
 * Makes and edits the HttpQueue of a queue, so that resource and engine agree, and creates it for a queue that a push has
 * created.
 * Throws EditRefusedError with the words of the store, ResourceApiError when it is unavailable.
 */
export class ResourceQueueEditor implements QueueEditor {
  readonly #options: QueueEditorOptions

  constructor(options: QueueEditorOptions) {
    this.#options = options
  }

  async create(
    team: string,
    name: string,
    settings: Partial<QueueSettings>,
  ): ReturnType<QueueEditor['create']> {
    const { queues, isWatched, store, clock } = this.#options
    if (!isWatched(team)) throw notWatched('Queues', team)
    // This is asked first, so that an unavailable Redis refuses the queue before there is a resource.
    const known = await queues.getByName(team, name)
    if (known !== null || this.#knownResources({ team, name }).length > 0) return 'exists'
    const resource = pushedQueueResource({ team, name }, { ...DEFAULT_QUEUE_SETTINGS, ...settings })
    const created = await withinTimeout(clock, () => store.create(resource).catch(nullIfTaken))
    if (created === null) return 'exists'
    let queue: Queue | null = null
    const isThere = async () => (queue = await queues.getByName(team, name)) !== null
    await pollUntil(clock, isThere, CREATED_WAIT_MS)
    if (queue !== null) return queue
    await store.remove(refOf(created)).catch(() => undefined)
    throw new ResourceApiError('unavailable', 'no controller has applied the queue')
  }

  async edit(
    team: string,
    queueId: number,
    change: Partial<QueueSettings>,
    check?: SettingsCheck,
  ): Promise<Queue | null> {
    const { queues, isWatched, clock } = this.#options
    const queue = await queues.get(team, queueId)
    if (queue === null) return null
    if (!isWatched(team)) throw notWatched('Queues', team)
    const settings = await withinTimeout(clock, () => this.#write(queue, { change, check }))
    return whenApplied(clock, {
      written: { ...queue, settings },
      read: () => queues.get(team, queueId),
    })
  }

  async remove(team: string, queueId: number): ReturnType<QueueEditor['remove']> {
    const { queues, clock } = this.#options
    const queue = await queues.get(team, queueId)
    if (queue === null) return 'not_found'
    const known = this.#knownResources(queue)
    const resources = known.length > 0 ? known : await this.#readResources(queue)
    // A queue that a push has created may have no resource yet, or never get one.
    if (resources.length === 0) return this.#removeWithoutResource(queue)
    await this.#removeResources(resources)
    const uids = new Set(resources.map(({ metadata }) => metadata.uid))
    await pollUntil(
      clock,
      async () =>
        (await queues.get(team, queueId)) === null &&
        this.#knownResources(queue).every(({ metadata }) => !uids.has(metadata.uid)),
    )
    return 'removed'
  }

  /**
   * The controller may be creating the resource at this moment, which would bring the queue back empty, so its
   * resources are removed after it.
   */
  async #removeWithoutResource(queue: Queue): ReturnType<QueueEditor['remove']> {
    const end = await this.#options.queues.remove(queue.team, queue.name)
    await this.#removeResources(await this.#readResources(queue))
    return end
  }

  async #removeResources(resources: readonly HttpQueue[]): Promise<void> {
    const { store, isReadOnly, clock } = this.#options
    for (const resource of resources) refuseApplied(resource, isReadOnly)
    const last = lastToRemove(resources)
    const inOrder = resources.toSorted((left, right) => Number(left === last) - Number(right === last))
    for (const resource of inOrder) await withinTimeout(clock, () => store.remove(refOf(resource)))
  }

  /** @returns the settings that the API server has now */
  async #write(queue: Queue, edit: QueueEdit): Promise<QueueSettings> {
    const owner = ownerOf(this.#knownResources(queue))
    if (owner === undefined) return this.#create(queue, edit)
    if (owner.metadata.deletionTimestamp === undefined) return this.#patch(owner, { ...edit, queue })
    throw new EditRefusedError('The queue is being deleted.')
  }

  async #patch(
    owner: HttpQueue,
    { queue, change, check }: QueueEdit & { readonly queue: Queue },
  ): Promise<QueueSettings> {
    const { store, isReadOnly } = this.#options
    const { namespace, name } = owner.metadata
    refuseApplied(owner, isReadOnly)
    const { spec } = await writeChecked(owner, {
      // After a spec was refused, the settings applied before it are in force, and the API shows those.
      check:
        check &&
        ((object) =>
          check(refusalOf(object) === 'InvalidSpec' ? queue.settings : settingsOfSpec(object.spec))),
      write: (object, lock) => store.patchSpec(refOf(object), { ...specOfSettings(change) }, lock),
      read: () => store.read(namespace, name),
    })
    return settingsOfSpec(spec)
  }

  async #create(queue: Queue, edit: QueueEdit): Promise<QueueSettings> {
    const { store } = this.#options
    const { team, name } = queue
    edit.check?.(queue.settings)
    const resource = pushedQueueResource(queue, { ...queue.settings, ...edit.change })
    try {
      return settingsOfSpec((await store.create(resource)).spec)
    } catch (error) {
      if (!isFault(error, 'conflict')) throw error
      // The controller has just created it and the informer does not have it yet.
      const found = await store.read(team, resource.metadata.name)
      if (found === null || queueKeyOf(found) !== queueKey(team, name)) throw error
      return this.#patch(found, { ...edit, queue })
    }
  }

  #knownResources({ team, name }: Pick<Queue, 'team' | 'name'>): readonly HttpQueue[] {
    const known = this.#options.resourcesOf(team, name)
    if (known === null) throw new ResourceApiError('unavailable', 'the resources are not all known yet')
    return known
  }

  /**
   * Reads from the API server: the informer may lag, and a resource that it does not know would bring the queue back.
   */
  async #readResources({ team, name }: Queue): Promise<readonly HttpQueue[]> {
    const { store, isWatched, clock } = this.#options
    if (!isWatched(team)) return []
    const resources = await withinTimeout(clock, () => store.readAll(team))
    return resources.filter((resource) => queueKeyOf(resource) === queueKey(team, name))
  }
}

/** Its name derives from the queue's: somebody has just made the queue. */
function nullIfTaken(error: unknown): null {
  if (isFault(error, 'conflict')) return null
  throw error
}

/**
 * Picks the owner: removed earlier, it would pass the queue on to another of the resources. One without a finalizer is
 * not picked, as its deletion would not remove the queue.
 */
function lastToRemove(resources: readonly HttpQueue[]): HttpQueue | undefined {
  const owner = ownerOf(resources)
  if (owner !== undefined && holdsFinalizer(owner, QUEUE_FINALIZER)) return owner
  return resources.find((resource) => holdsFinalizer(resource, QUEUE_FINALIZER)) ?? owner
}
