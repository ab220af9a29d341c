import { Cluster } from 'ioredis'
import { StoreUnavailableError } from '../../domain/errors.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { Metrics } from '../../ports/metrics.ts'
import { StoreAwayError } from './circuit.ts'
import type { RedisConnection } from './connection.ts'
import { asStoreFault } from './faults.ts'
import { absentKeyBeside } from '../layout/keys.ts'
import type { Script, ScriptName, Scripts } from './scripts.ts'

export type Argument = string | number

/** The only way to a script. Owns: the difference between Redis's clock and ours, per shard. */
export interface StepRunner {
  /**
   * Runs one step. Every step may be sent twice and is done once, so a passing fault is answered by sending the
   * identical command again until `resendForMs` is over.
   * Throws StoreUnavailableError or StorageFullError.
   */
  run(
    name: ScriptName,
    keys: readonly string[],
    args: readonly Argument[],
    resendForMs?: number,
  ): Promise<unknown>
  /** Runs plain reads and turns their faults into ours. */
  read<T>(reads: (connection: RedisConnection) => Promise<T>): Promise<T>
  /** Milliseconds of Redis time in a shard, estimated from the last answer that carried it. */
  redisNowMs(shard: number): number
  /** Notes the time a shard's answer carried. */
  noteRedisTime(shard: number, redisMs: number): void
}

const RESEND_DELAY_MS = 50

export interface StepRunnerOptions {
  readonly connection: RedisConnection
  readonly scripts: Scripts
  readonly clock: Clock
  readonly metrics: Metrics
}

export function createStepRunner(options: StepRunnerOptions): StepRunner {
  return new ResendingStepRunner(options)
}

class ResendingStepRunner implements StepRunner {
  readonly #options: StepRunnerOptions
  /** Redis time minus monotonic time, per shard. */
  readonly #offsets: number[] = []

  constructor(options: StepRunnerOptions) {
    this.#options = options
  }

  async run(
    name: ScriptName,
    keys: readonly string[],
    args: readonly Argument[],
    resendForMs = 0,
  ): Promise<unknown> {
    const { clock } = this.#options
    if (resendForMs <= 0) return this.#send(name, keys, args)
    const deadlineMs = clock.monotonicMs() + resendForMs
    for (;;) {
      try {
        return await this.#within(deadlineMs, this.#send(name, keys, args))
      } catch (error) {
        const isWorthwhile =
          error instanceof StoreUnavailableError &&
          !(error instanceof StoreAwayError) &&
          clock.monotonicMs() + RESEND_DELAY_MS < deadlineMs
        if (!isWorthwhile) throw error
        await new Promise<void>((resolve) => clock.after(RESEND_DELAY_MS, resolve))
      }
    }
  }

  /** What is sent may still be done when we no longer wait for it: the caller sends it again, or says 503. */
  #within<T>(deadlineMs: number, sent: Promise<T>): Promise<T> {
    const { clock } = this.#options
    return new Promise((resolve, reject) => {
      const cancel = clock.after(Math.max(0, deadlineMs - clock.monotonicMs()), () =>
        reject(new StoreUnavailableError('it did not answer in time')),
      )
      sent.then(resolve, reject).finally(cancel)
    })
  }

  async read<T>(reads: (connection: RedisConnection) => Promise<T>): Promise<T> {
    try {
      return await reads(this.#options.connection)
    } catch (error) {
      throw asStoreFault(error)
    }
  }

  redisNowMs(shard: number): number {
    const { clock } = this.#options
    const nowMs = clock.monotonicMs()
    return Math.round(nowMs + (this.#offsets[shard] ?? clock.wallMs() - nowMs))
  }

  noteRedisTime(shard: number, redisMs: number): void {
    this.#offsets[shard] = redisMs - this.#options.clock.monotonicMs()
  }

  async #send(name: ScriptName, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    const { connection, scripts, clock, metrics } = this.#options
    const startedAtMs = clock.monotonicMs()
    let ok = false
    try {
      const answer = await evaluate(connection, scripts[name], keys, args)
      ok = true
      return answer
    } catch (error) {
      throw asStoreFault(error)
    } finally {
      metrics.redisStep(name, (clock.monotonicMs() - startedAtMs) / 1000, ok)
    }
  }
}

/** By its hash; a Redis that does not know the script yet, or no longer, is sent its source. */
async function evaluate(
  connection: RedisConnection,
  script: Script,
  keys: readonly string[],
  args: readonly Argument[],
): Promise<unknown> {
  // Behind all others: the scripts count their keys from the first.
  const declared = connection instanceof Cluster ? [...keys, absentKeyBeside(keys)] : keys
  const words = [...declared, ...args] as string[]
  try {
    return await connection.evalsha(script.sha, declared.length, ...words)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    return connection.eval(script.source, declared.length, ...words)
  }
}
