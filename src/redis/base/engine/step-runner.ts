import { Cluster } from 'ioredis'
import { StoreUnavailableError } from '../../../domain/errors.ts'
import type { Clock } from '../../../ports/runtime.ts'
import type { Metrics } from '../../../ports/metrics.ts'
import { StoreAwayError } from '../client/circuit.ts'
import type { RedisConnection } from '../client/connection.ts'
import { asStoreFault } from '../client/faults.ts'
import { absentKeyBeside } from '../layout/keys.ts'
import { ClockOffset } from '../client/clock-offset.ts'
import type { Script } from './scripts.ts'
import type { StepCall } from './step.ts'

/** The only way to a script. Owns the difference between Redis's clock and ours, per shard. */
export interface StepRunner {
  /**
   * Every step may be sent twice and takes effect once, so a passing fault is answered by sending the identical call
   * again until `resendForMs` is over. Throws StoreUnavailableError or StorageFullError.
   */
  run(call: StepCall, resendForMs?: number): Promise<unknown>
  /** Runs plain reads and turns their faults into ours; passing ones are answered by reading anew, as in `run`. */
  read<T>(reads: (connection: RedisConnection) => Promise<T>, readAnewForMs?: number): Promise<T>
  /** Milliseconds of Redis time in a shard, estimated from recent answers that carried it; almost never ahead of it. */
  redisNowMs(shard: number): number
  /** Notes the time that an answer of the shard carried. */
  noteRedisTime(shard: number, redisMs: number): void
}

const RESEND_DELAY_MS = 50

export interface StepRunnerOptions {
  readonly connection: RedisConnection
  readonly scripts: Readonly<Record<string, Script>>
  readonly clock: Clock
  readonly metrics: Metrics
  /** Lets replicas confirm the steps that accept something; absent = the answer of the primary is enough. */
  readonly confirmation?: StepConfirmation
}

/** Sends steps over a connection of its own, and waits until replicas have what they wrote. */
export interface StepConfirmation {
  /** Names of steps. */
  readonly steps: ReadonlySet<string>
  confirmed<T>(send: (connection: Scripting) => Promise<T>): Promise<T>
}

type Scripting = Pick<RedisConnection, 'eval' | 'evalsha'>
/** Hands a connection to whoever sends over it. */
type Over = (send: (connection: Scripting) => Promise<unknown>) => Promise<unknown>

export function createStepRunner(options: StepRunnerOptions): StepRunner {
  const { connection, scripts, clock, metrics, confirmation = null } = options
  const unconfirmed: Over = (send) => send(connection)
  const overFor = (name: string): Over =>
    confirmation?.steps.has(name) === true ? (send) => confirmation.confirmed(send) : unconfirmed
  /** Per shard. */
  const offsets: ClockOffset[] = []

  async function send(call: StepCall): Promise<unknown> {
    const startedAtMs = clock.monotonicMs()
    let ok = false
    try {
      const answer = await evaluate(overFor(call.name), scripts[call.name] as Script, call)
      ok = true
      return answer
    } catch (error) {
      throw asStoreFault(error)
    } finally {
      metrics.redisStep(call.name, (clock.monotonicMs() - startedAtMs) / 1000, ok)
    }
  }

  async function readOnce<T>(reads: (connection: RedisConnection) => Promise<T>): Promise<T> {
    try {
      return await reads(connection)
    } catch (error) {
      throw asStoreFault(error)
    }
  }

  async function askFor<T>(forMs: number, ask: () => Promise<T>): Promise<T> {
    if (forMs <= 0) return ask()
    const deadlineMs = clock.monotonicMs() + forMs
    for (;;) {
      try {
        return await within(clock, deadlineMs, ask())
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

  return {
    run: (call, resendForMs = 0) => askFor(resendForMs, () => send(call)),
    read: (reads, readAnewForMs = 0) => askFor(readAnewForMs, () => readOnce(reads)),
    redisNowMs: (shard) => {
      const nowMs = clock.monotonicMs()
      return Math.floor(nowMs + (offsets[shard]?.ms ?? clock.wallMs() - nowMs))
    },
    noteRedisTime: (shard, redisMs) => {
      const offset = (offsets[shard] ??= new ClockOffset())
      offset.note(redisMs, clock.monotonicMs())
    },
  }
}

/** A step may still run after we stop waiting for it: the caller sends it again, or answers 503. */
function within<T>(clock: Clock, deadlineMs: number, sent: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(Math.max(0, deadlineMs - clock.monotonicMs()), () =>
      reject(new StoreUnavailableError('Redis did not answer in time')),
    )
    sent.then(resolve, reject).finally(cancel)
  })
}

/** Runs a script by its hash; a Redis that does not know the script yet, or no longer, is sent its source. */
async function evaluate(over: Over, script: Script, { keys, args }: StepCall): Promise<unknown> {
  const run = (by: 'eval' | 'evalsha', text: string) =>
    over((connection) => {
      // Behind all others: the scripts count their keys from the first.
      const declared = connection instanceof Cluster ? [...keys, absentKeyBeside(keys)] : keys
      const words = [...declared, ...args] as string[]
      return connection[by](text, declared.length, ...words)
    })
  try {
    return await run('evalsha', script.sha)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    return run('eval', script.source)
  }
}
