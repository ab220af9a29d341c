import { reasonOf, ResourceApiError } from '../../domain/errors.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../domain/jobs/queue-settings.ts'
import { LruCache } from '../../domain/lru-cache.ts'
import { pause } from '../../domain/pause.ts'
import type { EventRecorder, Informer, ResourceWriter } from '../../ports/kubernetes.ts'
import type { ControllerMetrics } from '../../ports/metrics.ts'
import type { QueueRef, QueueStats } from '../../ports/queues.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { pushedQueueResource } from '../../resources/manifests/queue-manifest.ts'
import { isPushed, queueKey } from '../../resources/queue-owner.ts'
import { BY_QUEUE, refOf, type HttpQueue } from '../kinds.ts'

export interface PushedQueuesOptions {
  readonly informer: Pick<Informer<HttpQueue>, 'all' | 'byIndex'>
  readonly writer: Pick<ResourceWriter<HttpQueue>, 'create'>
  readonly queueStats: Pick<QueueStats, 'pushed' | 'count'>
  readonly isWatched: (namespace: string) => boolean
  /** Tells whether what Redis has of the team belongs to its namespace. Throws ResourceApiError. */
  readonly admit: (namespace: string) => Promise<boolean>
  /** Called when a namespace begins or ceases to have queues waiting for a resource. */
  readonly onWaiting: (namespace: string) => void
  readonly events: EventRecorder
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<ControllerMetrics, 'pushedQueuesWaiting'>
}

export const IMPORT_EVERY_MS = 3_000
/** At most this many queues are read at once; the others follow next time. */
const IMPORT_BATCH_MAX = 500
const CREATES_PER_SECOND = 50
/**
 * At most this many resources are created for pushes in one namespace. Further pushed queues keep the defaults, without
 * a resource.
 */
export const PUSHED_PER_NAMESPACE_MAX = 1_000
/**
 * A create that was refused is tried again after this time, as the namespace may be terminating or the name not
 * allowed.
 */
const REFUSED_FOR_MS = 60_000
/** At most this many refusals are remembered. */
const REFUSED_MAX = 10_000

/**
 * Creates an HttpQueue for each queue that a push has created. From then on its settings come from the resource. Owns
 * the refused creates and, by namespace, how many queues wait for a resource.
 */
export class PushedQueues {
  readonly #options: PushedQueuesOptions
  /** By namespace or queue key, until when no create is tried, by the monotonic clock. */
  readonly #refused = new LruCache<string, number>(REFUSED_MAX)
  #waiting = new Map<string, number>()
  #isFailing = false

  constructor(options: PushedQueuesOptions) {
    this.#options = options
  }

  /** Answers how many queues get no resource because the namespace has too many, by the last import. */
  waitingOf(namespace: string): number {
    return this.#waiting.get(namespace) ?? 0
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options
    while (!signal.aborted) {
      try {
        await this.#import(signal)
        this.#isFailing = false
      } catch (error) {
        const log = this.#isFailing ? 'debug' : 'warn'
        this.#isFailing = true
        logger[log]('Resources for pushed queues could not be created', { reason: reasonOf(error) })
      }
      await pause(clock, IMPORT_EVERY_MS, signal)
    }
  }

  async #import(signal: AbortSignal): Promise<void> {
    const { queues, isMore } = await this.#options.queueStats.pushed(IMPORT_BATCH_MAX)
    const missing = queues.filter((queue) => this.#isMissing(queue))
    const counts = missing.length === 0 ? new Map<string, number>() : this.#countByNamespace()
    const waiting = new Map<string, number>()
    let created = 0
    for (const queue of missing) {
      if (signal.aborted) return
      const { team, name } = queue
      if (this.#isRefused(team) || this.#isRefused(queueKey(team, name))) continue
      const count = counts.get(team) ?? 0
      if (count >= PUSHED_PER_NAMESPACE_MAX) {
        waiting.set(team, (waiting.get(team) ?? 0) + 1)
        continue
      }
      counts.set(team, count + 1)
      created += 1
      if (created % CREATES_PER_SECOND === 0) await pause(this.#options.clock, 1_000, signal)
      await this.#create(queue)
    }
    // Queues beyond this batch may still wait.
    this.#reportWaiting(isMore ? new Map([...this.#waiting, ...waiting]) : waiting)
  }

  #isMissing({ team, name }: QueueRef): boolean {
    const { informer, isWatched } = this.#options
    return isWatched(team) && informer.byIndex(BY_QUEUE, queueKey(team, name)).length === 0
  }

  #isRefused(what: string): boolean {
    const untilMs = this.#refused.get(what)
    return untilMs !== undefined && this.#options.clock.monotonicMs() < untilMs
  }

  #countByNamespace(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const queue of this.#options.informer.all()) {
      const { namespace } = queue.metadata
      if (isPushed(queue)) counts.set(namespace, (counts.get(namespace) ?? 0) + 1)
    }
    return counts
  }

  /** The resource's name derives from the queue's, so one that the informer does not have yet is not created twice. */
  async #create(queue: QueueRef): Promise<void> {
    const { writer, queueStats, admit, clock, logger } = this.#options
    const { team, name } = queue
    if (!(await admit(team))) return
    // The last of 500 are created seconds later, and a queue that was deleted meanwhile must not come back empty.
    const [found] = await queueStats.count([queue])
    if (found === null) return
    try {
      await writer.create(pushedQueueResource(queue, DEFAULT_QUEUE_SETTINGS))
    } catch (error) {
      if (!(error instanceof ResourceApiError)) throw error
      const isNamespace = error.fault === 'forbidden' || error.fault === 'not_found'
      if (!isNamespace && error.fault !== 'conflict' && error.fault !== 'invalid') throw error
      const what = isNamespace ? team : queueKey(team, name)
      const isKnown = this.#refused.get(what) !== undefined || error.fault === 'conflict'
      this.#refused.set(what, clock.monotonicMs() + REFUSED_FOR_MS)
      const fields = { namespace: team, queue: name, reason: reasonOf(error) }
      logger[isKnown ? 'debug' : 'warn']('The resource for a pushed queue could not be created', fields)
    }
  }

  #reportWaiting(waiting: Map<string, number>): void {
    const { metrics, onWaiting, logger } = this.#options
    const before = this.#waiting
    this.#waiting = waiting
    metrics.pushedQueuesWaiting([...waiting.values()].reduce((sum, count) => sum + count, 0))
    for (const namespace of waiting.keys()) {
      if (before.has(namespace)) continue
      logger.warn('A namespace has too many pushed queues', { namespace, max: PUSHED_PER_NAMESPACE_MAX })
      this.#recordEvent(namespace)
      onWaiting(namespace)
    }
    for (const namespace of before.keys()) if (!waiting.has(namespace)) onWaiting(namespace)
  }

  /** Records the event on any of the thousand, so that `kubectl get events` of the namespace shows it. */
  #recordEvent(namespace: string): void {
    const { informer, events } = this.#options
    for (const queue of informer.all()) {
      if (queue.metadata.namespace !== namespace || !isPushed(queue)) continue
      const note = `The namespace has ${PUSHED_PER_NAMESPACE_MAX} HttpQueues created for pushed queues: further pushed queues use the default settings, without an HttpQueue.`
      const event = { type: 'Warning', reason: 'TooManyPushedQueues', action: 'MakeHttpQueue', note } as const
      return events.record({ regarding: refOf(queue), ...event })
    }
  }
}
