import { StoreUnavailableError } from '../domain/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { RedisConnection } from './connection.ts'
import { asStoreFault } from './faults.ts'
import type { ScriptName, Scripts } from './scripts.ts'

export type Argument = string | number

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

export function createStepRunner(options: {
  connection: RedisConnection
  scripts: Scripts
  clock: Clock
  metrics: Metrics
}): StepRunner {
  const { connection, scripts, clock, metrics } = options
  /** Redis time minus monotonic time, per shard. */
  const offsets: number[] = []

  async function send(
    name: ScriptName,
    keys: readonly string[],
    args: readonly Argument[],
  ): Promise<unknown> {
    const script = scripts[name]
    const startedAt = clock.monotonicMs()
    let ok = false
    try {
      const answer = await evaluate(script.sha, script.source, keys, args)
      ok = true
      return answer
    } catch (error) {
      throw asStoreFault(error)
    } finally {
      metrics.redisStep(name, (clock.monotonicMs() - startedAt) / 1000, ok)
    }
  }

  async function evaluate(sha: string, source: string, keys: readonly string[], args: readonly Argument[]) {
    try {
      return await connection.evalsha(sha, keys.length, ...(keys as string[]), ...(args as string[]))
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      return connection.eval(source, keys.length, ...(keys as string[]), ...(args as string[]))
    }
  }

  async function run(
    name: ScriptName,
    keys: readonly string[],
    args: readonly Argument[],
    resendForMs = 0,
  ): Promise<unknown> {
    const deadline = clock.monotonicMs() + resendForMs
    for (;;) {
      try {
        return await send(name, keys, args)
      } catch (error) {
        const isWorthwhile =
          error instanceof StoreUnavailableError && clock.monotonicMs() + RESEND_DELAY_MS < deadline
        if (!isWorthwhile) throw error
        await new Promise<void>((resolve) => clock.after(RESEND_DELAY_MS, resolve))
      }
    }
  }

  return {
    run,
    read: async (reads) => {
      try {
        return await reads(connection)
      } catch (error) {
        throw asStoreFault(error)
      }
    },
    redisNowMs: (shard) =>
      Math.round(clock.monotonicMs() + (offsets[shard] ?? clock.wallMs() - clock.monotonicMs())),
    noteRedisTime: (shard, redisMs) => {
      offsets[shard] = redisMs - clock.monotonicMs()
    },
  }
}
