import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { QUOTA_NAMES } from '../domain/quotas.ts'
import type { FinishOutcome, Metrics } from '../ports/metrics.ts'

export interface MetricsRegistry {
  readonly metrics: Metrics
  /** For the series of single roles. */
  readonly registry: Registry
  /** Everything in the Prometheus text format. */
  render(): Promise<{ contentType: string; body: string }>
}

/** From a millisecond to ten seconds: the promise is p99 below one second. */
const LATENESS_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const STEP_BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

const FINISH_OUTCOMES = [
  'success',
  'retrying',
  'failed_no_retries',
  'dead_lettered',
  'released',
  'stale',
] as const satisfies readonly FinishOutcome[]

/** @param options.processMetrics memory, CPU, event loop and garbage collection under their usual names */
export function createMetrics(options: { readonly processMetrics: boolean }): MetricsRegistry {
  const registry = new Registry()
  if (options.processMetrics) collectDefaultMetrics({ register: registry })
  return {
    metrics: { ...jobMetrics(registry), ...engineMetrics(registry) },
    registry,
    render: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  }
}

type JobMetrics = Pick<
  Metrics,
  | 'jobsPushed'
  | 'refusedByQuota'
  | 'jobStarted'
  | 'jobFinished'
  | 'callbackFinished'
  | 'callsInFlight'
  | 'callRecordsDropped'
  | 'jobsQuarantined'
>

function jobMetrics(registry: Registry): JobMetrics {
  const pushed = counter(registry, 'punctual_jobs_pushed_total', 'Jobs accepted by this process.')
  const refused = labelled(
    registry,
    'punctual_quota_refusals_total',
    'Pushes and new crons that a quota of their team refused.',
    { name: 'quota', values: [...QUOTA_NAMES.filter((name) => name !== 'callsInFlight'), 'share'] },
  )
  const started = counter(registry, 'punctual_jobs_started_total', 'Calls of jobs begun by this process.')
  const finished = labelled(registry, 'punctual_jobs_finished_total', 'Claimed jobs by how they left.', {
    name: 'outcome',
    values: FINISH_OUTCOMES,
  })
  const callbacks = labelled(registry, 'punctual_callbacks_finished_total', 'Callbacks by how they ended.', {
    name: 'outcome',
    values: ['delivered', 'failed'],
  })
  const lateness = new Histogram({
    name: 'punctual_job_lateness_seconds',
    help: 'From scheduled_at to the claim, by the clock of Redis.',
    buckets: LATENESS_BUCKETS_SECONDS,
    registers: [registry],
  })
  let readInFlight = (): number => 0
  registry.registerMetric(
    new Gauge({
      name: 'punctual_calls_in_flight',
      help: 'Room for calls that is in use: by open ones, by ends being written, by claims under way.',
      registers: [],
      collect() {
        this.set(readInFlight())
      },
    }),
  )
  const dropped = counter(
    registry,
    'punctual_call_records_dropped_total',
    'Call records that were made and not kept, for want of room.',
  )
  const quarantined = counter(
    registry,
    'punctual_jobs_set_aside_total',
    'Jobs and callbacks that do not run as their records are damaged.',
  )
  return {
    jobsPushed: (count) => pushed.inc(count),
    refusedByQuota: (quota) => refused.inc({ quota }),
    jobStarted: (latenessMs) => {
      started.inc()
      lateness.observe(Math.max(0, latenessMs) / 1000)
    },
    jobFinished: (outcome, count) => finished.inc({ outcome }, count),
    callbackFinished: (outcome) => callbacks.inc({ outcome }),
    callsInFlight: (read) => {
      readInFlight = read
    },
    callRecordsDropped: (count) => dropped.inc(count),
    jobsQuarantined: (count) => quarantined.inc(count),
  }
}

function engineMetrics(registry: Registry): Omit<Metrics, keyof JobMetrics> {
  const leases = counter(registry, 'punctual_leases_lost_total', 'Leases of shards that this process lost.')
  let readShardsHeld = (): number => 0
  registry.registerMetric(
    new Gauge({
      name: 'punctual_shards_held',
      help: 'Shards whose lease this process holds.',
      registers: [],
      collect() {
        this.set(readShardsHeld())
      },
    }),
  )
  const jumps = labelled(
    registry,
    'punctual_clock_jumps_total',
    'Jumps of the clock of Redis: forward by over 10 s, or back by over 5.',
    {
      name: 'direction',
      values: ['forward', 'backward'],
    },
  )
  const seconds = new Histogram({
    name: 'punctual_redis_step_duration_seconds',
    help: 'Round trip of one step in Redis.',
    labelNames: ['step'],
    buckets: STEP_BUCKETS_SECONDS,
    registers: [registry],
  })
  const errors = new Counter({
    name: 'punctual_redis_step_errors_total',
    help: 'Steps in Redis that failed.',
    labelNames: ['step'],
    registers: [registry],
  })
  return {
    shardsHeld: (read) => {
      readShardsHeld = read
    },
    leaseLost: () => leases.inc(),
    clockJumped: (direction) => jumps.inc({ direction }),
    redisStep: (step, duration, ok) => {
      seconds.observe({ step }, duration)
      errors.inc({ step }, ok ? 0 : 1)
    },
  }
}

function counter(registry: Registry, name: string, help: string): Counter {
  return new Counter({ name, help, registers: [registry] })
}

/** Every value of the label stands in the output from the start: a rate over a series that is missing shows nothing. */
function labelled<Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  label: { readonly name: Label; readonly values: readonly string[] },
): Counter<Label> {
  const made = new Counter({ name, help, labelNames: [label.name], registers: [registry] })
  for (const value of label.values) made.inc({ [label.name]: value } as Record<Label, string>, 0)
  return made
}
