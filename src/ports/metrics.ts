import type { MetQuota } from './team-usage.ts'

/** How a claimed job left this executor. */
export type FinishOutcome =
  | 'success'
  | 'retrying'
  | 'failed_no_retries'
  | 'dead_lettered'
  /** Given back unstarted or cut short by our own shutdown. */
  | 'released'
  /** The lease was gone: the result was refused. */
  | 'stale'

/** What the engine counts, as `punctual_*`. Label values come from closed sets, never from users. */
export interface Metrics {
  jobsPushed(count: number): void
  /** A push or a new cron that a quota refused. */
  refusedByQuota(quota: MetQuota): void
  /** @param latenessMs Redis time of the claim minus `scheduled_at` */
  jobStarted(latenessMs: number): void
  jobFinished(outcome: FinishOutcome, count: number): void
  callbackFinished(outcome: 'delivered' | 'failed'): void
  /** Where this process's room in use for calls is read from, whenever the metrics are. */
  callsInFlight(read: () => number): void
  /** Where the number of shards whose lease this process holds is read from, whenever the metrics are. */
  shardsHeld(read: () => number): void
  leaseLost(): void
  clockJumped(direction: 'forward' | 'backward'): void
  callRecordsDropped(count: number): void
  /** Jobs and callbacks whose records were damaged. */
  jobsSetAside(count: number): void
  /** One round trip of a step: `enqueue`, `claim`, `finish`, … */
  redisStep(step: string, seconds: number, ok: boolean): void
}
