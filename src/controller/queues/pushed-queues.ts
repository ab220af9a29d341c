import { reasonOf, ResourceApiError } from '../../domain/errors.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../domain/jobs/queue-settings.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { ControllerMetrics } from '../../ports/metrics.ts'
import type { EventRecorder, Informer, ResourceWriter } from '../../ports/kubernetes.ts'
import type { QueueStats, QueueRef } from '../../ports/queues.ts'
import { isPushed, queueKey } from '../../resources/queue-owner.ts'
import { pushedQueueResource } from '../../resources/manifests/queue-manifest.ts'
import { BY_QUEUE, refOf, type HttpQueue } from '../kinds.ts'
import { pause } from '../../domain/pause.ts'

export interface PushedQueuesParts {
  readonly view: Pick<Informer<HttpQueue>, 'all' | 'byIndex'>
  readonly writer: Pick<ResourceWriter<HttpQueue>, 'create'>
  readonly queueStats: Pick<QueueStats, 'pushed' | 'count'>
  /** Whether resources of this namespace are ours to make. */
  readonly isWatched: (namespace: string) => boolean
  /** The number of pushed queues of a namespace that stay without a resource has changed. */
  readonly onWaiting: (namespace: string) => void
  readonly events: EventRecorder
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<ControllerMetrics, 'pushedQueuesWaiting'>
}

/** Makes an HttpQueue for each queue that a push has made. From there on the resource is what its settings are. */
export interface PushedQueues {
  /** How many queues of the namespace stay without a resource because it has too many, as seen last. */
  waitingOf(namespace: string): number
  run(signal: AbortSignal): Promise<void>
}

export const IMPORT_EVERY_MS = 3_000
/** Looked at in one round; of more, others come the next time. */
const IMPORT_BATCH_MAX = 500
/** Made per second. */
const IMPORT_CREATES_PER_SECOND = 50
/** Resources made for pushes in one namespace; further pushed queues work by the defaults, without one. */
export const PUSHED_PER_NAMESPACE_MAX = 1_000
/** What could not be made is not tried again for this long: a namespace that ends, is not there or refuses, a name. */
const REFUSED_FOR_MS = 60_000
/** Refusals that are remembered; of more, the oldest are forgotten and tried again. */
const REFUSED_MAX = 10_000

export function createPushedQueues(parts: PushedQueuesParts): PushedQueues {
  return new Importer(parts)
}

class Importer implements PushedQueues {
  readonly #parts: PushedQueuesParts
  /** By namespace or key of a queue, until when by the monotonic clock. */
  readonly #refused = new Map<string, number>()
  #waiting = new Map<string, number>()
  #isFailing = false

  constructor(parts: PushedQueuesParts) {
    this.#parts = parts
  }

  waitingOf(namespace: string): number {
    return this.#waiting.get(namespace) ?? 0
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#parts
    while (!signal.aborted) {
      try {
        await this.#round(signal)
        this.#isFailing = false
      } catch (error) {
        const log = this.#isFailing ? 'debug' : 'warn'
        this.#isFailing = true
        logger[log]('Pushed queues could not be made into resources', { reason: reasonOf(error) })
      }
      await pause(clock, IMPORT_EVERY_MS, signal)
    }
  }

  async #round(signal: AbortSignal): Promise<void> {
    const { queues, isMore } = await this.#parts.queueStats.pushed(IMPORT_BATCH_MAX)
    const missing = queues.filter((place) => this.#isMissing(place))
    const made = missing.length === 0 ? new Map<string, number>() : this.#madeByNamespace()
    const waiting = new Map<string, number>()
    let created = 0
    for (const place of missing) {
      if (signal.aborted) return
      const { team, name } = place
      if (this.#isRefused(team) || this.#isRefused(queueKey(team, name))) continue
      const count = made.get(team) ?? 0
      if (count >= PUSHED_PER_NAMESPACE_MAX) {
        waiting.set(team, (waiting.get(team) ?? 0) + 1)
        continue
      }
      made.set(team, count + 1)
      created += 1
      if (created % IMPORT_CREATES_PER_SECOND === 0) await pause(this.#parts.clock, 1_000, signal)
      await this.#create(place)
    }
    // What is not among those looked at this time may still wait.
    this.#tellWaiting(isMore ? new Map([...this.#waiting, ...waiting]) : waiting)
  }

  #isMissing({ team, name }: QueueRef): boolean {
    const { view, isWatched } = this.#parts
    return isWatched(team) && view.byIndex(BY_QUEUE, queueKey(team, name)).length === 0
  }

  #isRefused(what: string): boolean {
    const untilMs = this.#refused.get(what)
    return untilMs !== undefined && this.#parts.clock.monotonicMs() < untilMs
  }

  #refuse(what: string): void {
    this.#refused.delete(what)
    this.#refused.set(what, this.#parts.clock.monotonicMs() + REFUSED_FOR_MS)
    const [oldest] = this.#refused.keys()
    if (this.#refused.size > REFUSED_MAX && oldest !== undefined) this.#refused.delete(oldest)
  }

  #madeByNamespace(): Map<string, number> {
    const made = new Map<string, number>()
    for (const queue of this.#parts.view.all()) {
      if (!isPushed(queue)) continue
      const { namespace } = queue.metadata
      made.set(namespace, (made.get(namespace) ?? 0) + 1)
    }
    return made
  }

  /** The name follows from the queue's, so a resource made a moment ago, not seen yet, is not made twice. */
  async #create(place: QueueRef): Promise<void> {
    const { team, name } = place
    // Of 500, the last have their turn seconds later: one deleted meanwhile would come back, empty.
    const [found] = await this.#parts.queueStats.count([place])
    if (found === null) return
    try {
      await this.#parts.writer.create(pushedQueueResource(place, DEFAULT_QUEUE_SETTINGS))
    } catch (error) {
      if (!(error instanceof ResourceApiError)) throw error
      const isNamespace = error.fault === 'forbidden' || error.fault === 'not_found'
      if (!isNamespace && error.fault !== 'conflict' && error.fault !== 'invalid') throw error
      const what = isNamespace ? team : queueKey(team, name)
      const log = this.#refused.has(what) || error.fault === 'conflict' ? 'debug' : 'warn'
      this.#refuse(what)
      const fields = { namespace: team, queue: name, reason: reasonOf(error) }
      this.#parts.logger[log]('A pushed queue could not be made into a resource', fields)
    }
  }

  #tellWaiting(waiting: Map<string, number>): void {
    const { metrics, onWaiting, logger } = this.#parts
    const before = this.#waiting
    this.#waiting = waiting
    metrics.pushedQueuesWaiting([...waiting.values()].reduce((sum, count) => sum + count, 0))
    for (const namespace of waiting.keys()) {
      if (before.has(namespace)) continue
      logger.warn('A namespace has too many pushed queues', { namespace, max: PUSHED_PER_NAMESPACE_MAX })
      this.#tellEvent(namespace)
      onWaiting(namespace)
    }
    for (const namespace of before.keys()) if (!waiting.has(namespace)) onWaiting(namespace)
  }

  /** On any of the thousand, so that `kubectl get events` of the namespace shows it. */
  #tellEvent(namespace: string): void {
    for (const queue of this.#parts.view.all()) {
      if (queue.metadata.namespace !== namespace || !isPushed(queue)) continue
      const note = `The namespace has ${PUSHED_PER_NAMESPACE_MAX} HttpQueues made for pushed queues; further ones work by the defaults, without an HttpQueue.`
      const event = { type: 'Warning', reason: 'TooManyPushedQueues', action: 'MakeHttpQueue', note } as const
      return this.#parts.events.record({ regarding: refOf(queue), ...event })
    }
  }
}
