import { randomBytes } from 'node:crypto'
import type { Engine } from './engine.ts'
import { step } from './step.ts'

export const TAKE_LOCK = step('take_lock', import.meta.url, {
  keys: ['lock'],
  args: ['holder', 'leaseMs'],
  rows: { former: { keys: ['hash'], args: ['field'] } },
})

/**
 * The lease by which one executor at a time does the rounds of a shard. It saves work that several would do in vain, and
 * never keeps data right: who is frozen and wakes up after its lease finds the versions of what it read gone.
 */
export class ShardLock {
  /** Of this executor. */
  readonly holder = randomBytes(6).toString('base64url')
  readonly #engine: Engine
  readonly #lock: Parameters<typeof TAKE_LOCK.with>[0]

  /**
   * @param leaseMs longer than the holder works before it renews; when it dies, another begins after this
   * @param former where executors of the version before keep this lock
   */
  constructor(
    engine: Engine,
    {
      key,
      leaseMs,
      former = [],
    }: {
      readonly key: string
      readonly leaseMs: number
      readonly former?: ReadonlyArray<{ readonly hash: string; readonly field: string }>
    },
  ) {
    this.#engine = engine
    this.#lock = { lock: key, leaseMs, former, holder: this.holder }
  }

  /** Takes it, or renews it; false = another executor has it. */
  async take(): Promise<boolean> {
    return (await this.#engine.runner.run(TAKE_LOCK.with(this.#lock))) === 1
  }
}
