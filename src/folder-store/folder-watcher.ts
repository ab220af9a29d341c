import { type FSWatcher, watch } from 'node:fs'
import { reasonOf } from '../domain/errors.ts'
import type { Clock, Logger } from '../ports/runtime.ts'
import type { Refusals } from './folder-snapshot.ts'

const POLL_MS = 500
/** A sync follows a file event after this time, because editors make several changes at once. */
const EVENT_DELAY_MS = 50

export interface FolderWatcherOptions {
  readonly folder: string
  /** Applies the folder. @returns ms until a version is due, or null, and what was refused */
  readonly sync: () => Promise<{ readonly dueInMs: number | null; readonly refusals: Refusals }>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Syncs a folder every 500 ms, and soon after a file event. Polling is needed because network folders and some
 * containers have no events. Owns one timer and the file watch. After `stop` no sync begins, but one that runs goes on.
 */
export class FolderWatcher {
  readonly #options: FolderWatcherOptions
  readonly #events: FSWatcher | null
  #isStopped = false
  #hasEvent = false
  #lastReason = ''
  #cancel = (): void => undefined

  constructor(options: FolderWatcherOptions) {
    this.#options = options
    this.#events = watchEvents(options.folder, () => this.#onEvent())
    this.#schedule(POLL_MS)
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
    this.#events?.close()
  }

  #onEvent(): void {
    // Only the first event counts: a stream of them must not postpone the sync forever.
    if (!this.#hasEvent) this.#schedule(EVENT_DELAY_MS)
    this.#hasEvent = true
  }

  #schedule(delayMs: number): void {
    this.#cancel()
    if (!this.#isStopped) this.#cancel = this.#options.clock.after(delayMs, () => void this.#sync())
  }

  async #sync(): Promise<void> {
    this.#hasEvent = false
    let dueInMs: number | null = null
    try {
      const result = await this.#options.sync()
      dueInMs = result.dueInMs
      this.#logFailure(refusedText(result.refusals))
    } catch (error) {
      this.#logFailure(reasonOf(error))
    }
    this.#schedule(Math.min(POLL_MS, dueInMs ?? POLL_MS))
  }

  /** Logs a reason once for as long as it lasts. */
  #logFailure(reason: string): void {
    if (reason !== '' && reason !== this.#lastReason) {
      this.#options.logger.error('Changed manifests could not be applied yet', { reason })
    }
    this.#lastReason = reason
  }
}

/** Is '' when nothing is refused. */
function refusedText(refusals: Refusals): string {
  const [first] = refusals
  if (first === undefined) return ''
  const [key, { message }] = first
  return `${key}: ${message}${refusals.size > 1 ? ` And ${refusals.size - 1} more.` : ''}`
}

function watchEvents(folder: string, onEvent: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, onEvent)
    // Polling goes on without the watch.
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return null
  }
}
