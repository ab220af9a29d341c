import type { Clock } from '../ports/runtime.ts'

/**
 * A loop that polls and sleeps in between, for as many ms as `poll` answers. `poll` must not throw.
 *
 *     new → running → stopped
 *
 * `stop` waits for the poll in progress.
 */
export abstract class PollLoop {
  readonly #clock: Clock
  #endSleep: (() => void) | null = null
  #isWoken = false
  #isStopped = false
  #running: Promise<void> = Promise.resolve()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  start(delayMs = 0): void {
    this.#running = this.#run(delayMs)
  }

  /** Ends the sleep. During a poll it skips the next sleep instead, so that no wake is lost. */
  wake(): void {
    if (this.#endSleep === null) this.#isWoken = true
    else this.#endSleep()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.wake()
    await this.#running
  }

  protected abstract poll(): Promise<number>

  protected get isStopped(): boolean {
    return this.#isStopped
  }

  async #run(delayMs: number): Promise<void> {
    for (let sleepMs = delayMs; ; sleepMs = await this.poll()) {
      if (sleepMs > 0 && !this.#isStopped) await this.#sleep(sleepMs)
      if (this.#isStopped) return
    }
  }

  #sleep(ms: number): Promise<void> {
    if (this.#isWoken) {
      this.#isWoken = false
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, () => this.#endSleep?.())
      this.#endSleep = () => {
        cancel()
        this.#endSleep = null
        resolve()
      }
    })
  }
}
