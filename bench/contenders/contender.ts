import { BenchError } from '../harness/bench-error.ts'
import type { PostgresServer } from '../harness/postgres-server.ts'
import type { Program } from '../harness/processes.ts'
import type { RedisServer } from '../harness/redis-server.ts'
import type { HttpLoad } from '../harness/wrk.ts'
import type { PushPlan } from '../load/push-plan.ts'

/** Something that takes jobs in and calls their targets. */
export interface Contender {
  readonly name: string
  /** Whether taking in and calling are programs apart, so that each can be measured alone. */
  readonly isSplit: boolean
  /** The scenarios it takes part in, beside the life of a job. */
  readonly scenarios: readonly ScenarioName[]
  /** What stands beside its figures; null for Punctual itself. */
  readonly comparison: Comparison | null
  /** Sets it up on an empty store of its own. */
  open(folder: string): Promise<Stand>
}

export type ScenarioName = 'limited' | 'lateness' | 'batches' | 'memory' | 'idle' | 'calls' | 'recovery'

/** What a table of figures cannot say about a peer. */
export interface Comparison {
  /** What runs, with versions, and how it is set up. */
  readonly setup: string
  /** What it lacks beside Punctual, as it is run here. */
  readonly lacks: string
  /** What it does that Punctual does not, or does better. */
  readonly better: string
}

/** What keeps the jobs of a contender. */
export type DataStore = RedisServer | PostgresServer

export interface WorkOptions {
  /** Calls open at once. */
  readonly concurrency: number
  /** Queues `q0` … are worked on; null = the one queue `bench`. Contenders that find their queues ignore it. */
  readonly queues: number | null
  /** Whether finished jobs are kept where that is a choice. */
  readonly keepsHistory: boolean
}

export interface FillOptions {
  readonly count: number
  /** Jobs go to `q0` … in turn; null = all to `bench`. */
  readonly queues: number | null
  readonly delaySeconds: number
  /** May hold `{index}`. */
  readonly targetUrl: string
}

/** A contender at work on a store of its own. `close` stops all it has started, and the store. */
export interface Stand {
  readonly store: DataStore
  startIntake(): Promise<void>
  startWork(options: WorkOptions): Promise<Program>
  /** One push of 152 bytes to `bench`, due at once or in an hour. */
  load(targetUrl: string, delaySeconds: number): HttpLoad
  /** Pushes at a pace, each with a due time that the target logs. */
  pacedPlan(targetOrigin: string): Pick<PushPlan, 'url' | 'headers' | 'body'>
  /** Puts exactly so many jobs in, the fastest way it has. */
  fill(options: FillOptions): Promise<void>
  /** Makes `q0` … with a limit of calls at once each. */
  makeLimitedQueues(count: number, limit: number): Promise<void>
  /** Makes `q0` … that hold nothing. */
  makeIdleQueues(count: number): Promise<void>
  /** Whether no call is open any more, as far as it tells. */
  isAtRest(): Promise<boolean>
  /** CPU of all its own programs so far, in seconds. */
  cpuSeconds(): number
  close(): Promise<void>
}

/** For scenarios that read what only Redis tells. */
export function redisOf({ store }: Stand): RedisServer {
  if (store.kind !== 'redis') throw new BenchError(`this is measured in Redis alone, not in ${store.kind}`)
  return store
}

/** Calls of the same size for everybody: the submitted JSON has 152 bytes. */
export const SUBMITTED_BYTES = 152

/** Fills `payload.pad` so that the JSON has 152 bytes; longer bodies stay as they are. */
export function padded(body: Readonly<Record<string, unknown>>): string {
  const bare = JSON.stringify({ ...body, payload: { pad: '' } })
  const pad = 'x'.repeat(Math.max(0, SUBMITTED_BYTES - Buffer.byteLength(bare)))
  return JSON.stringify({ ...body, payload: { pad } })
}

export function queueName(queues: number | null): string {
  return queues === null ? 'bench' : 'q{queue}'
}
