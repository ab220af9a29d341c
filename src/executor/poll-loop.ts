import type { LoopIterations } from '../ports/loops/loop-health.ts'
import type { Clock } from '../ports/runtime.ts'

export interface PollLoopOptions {
  readonly clock: Clock
  /** Is told how each poll ends. */
  readonly iterations: LoopIterations
  /** The sleep after a poll that found Redis away or full, ms. */
  readonly retryMs: number
}

/**
 * A loop that polls and sleeps in between, for as many ms as `poll` answers. A poll that throws ends neither the loop nor
 * anything else: the next one follows after `retryMs` if Redis is away or full, and else, because of a defect, after a
 * pause that grows with each failure in a row. A wake cuts neither of them short, or hints would make a defect busy.
 *
 *     new → running → stopped
 *
 * `stop` waits for the poll in progress.
 */
export abstract class PollLoop {
  readonly #options: PollLoopOptions
  #endSleep: (() => void) | null = null
  #isWoken = false
  #isBackingOff = false
  #isStopped = false
  #running: Promise<void> = Promise.resolve()

  constructor(options: PollLoopOptions) {
    this.#options = options
  }

  start(delayMs = 0): void {
    this.#running = this.#run(delayMs)
  }

  /** Ends the sleep. During a poll it skips the next sleep instead, so that no wake is lost. */
  wake(): void {
    if (this.#isBackingOff) return
    if (this.#endSleep === null) this.#isWoken = true
    else this.#endSleep()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#isBackingOff = false
    this.wake()
    await this.#running
  }

  protected abstract poll(): Promise<number>

  protected get isStopped(): boolean {
    return this.#isStopped
  }

  async #run(delayMs: number): Promise<void> {
    for (let sleepMs = delayMs; ; sleepMs = await this.#iterate()) {
      if (sleepMs > 0 && !this.#isStopped) await this.#sleep(sleepMs)
      this.#isBackingOff = false
      if (this.#isStopped) return
    }
  }

  async #iterate(): Promise<number> {
    const { iterations, retryMs } = this.#options
    try {
      const sleepMs = await this.poll()
      iterations.succeeded()
      return sleepMs
    } catch (error) {
      this.#isWoken = false
      this.#isBackingOff = true
      return iterations.failed(error) ?? retryMs
    }
  }

  #sleep(ms: number): Promise<void> {
    if (this.#isWoken) {
      this.#isWoken = false
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(ms, () => this.#endSleep?.())
      this.#endSleep = () => {
        cancel()
        this.#endSleep = null
        resolve()
      }
    })
  }
}
