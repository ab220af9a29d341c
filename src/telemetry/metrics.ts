import { Registry, collectDefaultMetrics } from 'prom-client'
import { ALERT_RESOURCE_KINDS, ALERT_TYPES } from '../domain/alerts/alert.ts'
import { CHANNEL_TYPES } from '../domain/notifications/channel.ts'
import { QUOTA_NAMES } from '../domain/quotas.ts'
import { SET_ASIDE_KINDS } from '../domain/set-aside.ts'
import { LOOP_NAMES } from '../ports/loops/loop-health.ts'
import { Exemplars } from './open-metrics/exemplars.ts'
import { OPEN_METRICS_TYPE, openMetricsOf, wantsOpenMetrics } from './open-metrics/open-metrics-text.ts'
import { DEFECT_PARTS, type FinishOutcome, type Metrics, type NotificationOutcome } from '../ports/metrics.ts'
import { Series } from './series.ts'
import { systemClock } from './system-clock.ts'

export interface MetricsRegistry {
  readonly metrics: Metrics
  /** Registry, for the series that only some roles have. */
  readonly registry: Registry
  /** What OpenMetrics shows beside them. */
  readonly exemplars: Exemplars
  /**
   * Everything in the Prometheus text format, or as OpenMetrics with exemplars.
   * @param accept the header of that name; undefined = none
   */
  render(accept?: string): Promise<{ contentType: string; body: string }>
}

/** Buckets from a millisecond to ten seconds: the promise is p99 below one second. */
const LATENESS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const STEP_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

const FINISH_OUTCOMES = [
  'success',
  'retrying',
  'failed_no_retries',
  'dead_lettered',
  'released',
  'stale',
] as const satisfies readonly FinishOutcome[]

/** Name of the histogram of what each call was late. */
const LATENESS = 'punctual_job_lateness_seconds'

/** @param options.processMetrics memory, CPU, event loop and garbage collection under their usual names */
export function createMetrics(options: { readonly processMetrics: boolean }): MetricsRegistry {
  const registry = new Registry()
  if (options.processMetrics) collectDefaultMetrics({ register: registry })
  const series = new Series(registry)
  const exemplars = new Exemplars(() => systemClock.wallMs())
  return {
    metrics: {
      ...jobMetrics(series, exemplars),
      ...lossMetrics(series),
      ...notificationMetrics(series),
      ...engineMetrics(series),
      ...loopMetrics(series),
    },
    registry,
    exemplars,
    render: async (accept) => {
      const body = await registry.metrics()
      return wantsOpenMetrics(accept)
        ? { contentType: OPEN_METRICS_TYPE, body: openMetricsOf(body, exemplars) }
        : { contentType: registry.contentType, body }
    },
  }
}

type EngineMetrics = Pick<
  Metrics,
  'shardsHeld' | 'leaseLost' | 'clockJumped' | 'clockBehind' | 'clockHeld' | 'alertsRaised' | 'redisStep'
>
type LoopMetrics = Pick<Metrics, 'setAside' | 'loopFailed' | 'loopsFailing'>

const NOTIFICATION_OUTCOMES = [
  'sent',
  'retrying',
  'failed',
  'aborted',
  'stale',
] as const satisfies readonly NotificationOutcome[]

type NotificationMetrics = Pick<Metrics, 'notificationTried' | 'channelFailed'>

function notificationMetrics(series: Series): NotificationMetrics {
  const tried = series.counter(
    'punctual_notifications_total',
    'Tries to tell a channel of alerts.',
    'type',
    'outcome',
  )
  for (const type of CHANNEL_TYPES) {
    for (const outcome of NOTIFICATION_OUTCOMES) tried.inc({ type, outcome }, 0)
  }
  const failed = series.counterOf('punctual_channels_failed_total', 'Channels that began to fail.', {
    type: CHANNEL_TYPES,
  })
  return {
    notificationTried: (type, outcome) => tried.inc({ type, outcome }),
    channelFailed: (type) => failed.inc({ type }),
  }
}

function jobMetrics(
  series: Series,
  exemplars: Exemplars,
): Omit<Metrics, 'jobsLost' | keyof EngineMetrics | keyof NotificationMetrics | keyof LoopMetrics> {
  const pushed = series.counter('punctual_jobs_pushed_total', 'Jobs accepted by this process.')
  const refused = series.counterOf(
    'punctual_quota_refusals_total',
    'Pushes and new crons refused by a quota of their team.',
    { quota: [...QUOTA_NAMES.filter((name) => name !== 'callsInFlight'), 'share'] },
  )
  const starts = startMetrics(series, exemplars)
  const finished = series.counterOf(
    'punctual_jobs_finished_total',
    'Claimed jobs, by how this process finished them.',
    { outcome: FINISH_OUTCOMES },
  )
  const late = series.counter(
    'punctual_claims_late_total',
    'Jobs of queues with a rate limit that went back because the answer to their claim came too late.',
  )
  const callbacks = series.counterOf('punctual_callbacks_finished_total', 'Callbacks, by how they ended.', {
    outcome: ['delivered', 'failed'],
  })
  const callsInFlight = series.gaugeRead(
    'punctual_calls_in_flight',
    'Call slots in use: by open calls, by results being written and by claims in progress.',
  )
  const callSlots = series.gaugeRead('punctual_call_slots', 'Calls that this process makes at once.')
  const dropped = series.counter(
    'punctual_call_records_dropped_total',
    'Call records that were discarded because there was no room for them.',
  )
  const quarantined = series.counter(
    'punctual_jobs_set_aside_total',
    'Jobs and callbacks in quarantine: damaged, or their ends could not be written.',
  )
  const defects = series.counterOf(
    'punctual_defects_total',
    'Exceptions that are defects of Punctual, by what each of them stopped.',
    { part: DEFECT_PARTS },
  )
  return {
    jobsPushed: (count) => pushed.inc(count),
    refusedByQuota: (quota) => refused.inc({ quota }),
    ...starts,
    jobFinished: (outcome, count) => finished.inc({ outcome }, count),
    claimAnsweredLate: () => late.inc(),
    callbackFinished: (outcome) => callbacks.inc({ outcome }),
    callSlots: (slots, readBusy) => {
      callSlots(() => slots)
      callsInFlight(readBusy)
    },
    callRecordsDropped: (count) => dropped.inc(count),
    jobsQuarantined: (count) => quarantined.inc(count),
    defectConfined: (part) => defects.inc({ part }),
  }
}

function startMetrics(series: Series, exemplars: Exemplars): Pick<Metrics, 'jobStarted'> {
  const started = series.counter('punctual_jobs_started_total', 'Calls of jobs started by this process.')
  const lateness = series.histogram(LATENESS, {
    help: 'From scheduled_at to the claim, by the clock of Redis.',
    seconds: LATENESS_SECONDS,
  })
  return {
    jobStarted: (latenessMs, trace) => {
      const seconds = Math.max(0, latenessMs) / 1000
      started.inc()
      lateness.observe(seconds)
      if (trace === undefined) return
      const le = LATENESS_SECONDS.find((bound) => seconds <= bound) ?? '+Inf'
      exemplars.note(`${LATENESS}_bucket{le="${le}"}`, seconds, trace)
    },
  }
}

function lossMetrics(series: Series): Pick<Metrics, 'jobsLost'> {
  const lost = series.counter(
    'punctual_jobs_lost_total',
    'Jobs accepted by this process that Redis came back without.',
  )
  const losses = series.counter(
    'punctual_redis_losses_total',
    'Times that Redis came back with less than it had answered this process.',
  )
  return {
    jobsLost: (count) => {
      losses.inc()
      lost.inc(count)
    },
  }
}

function engineMetrics(series: Series): EngineMetrics {
  const leases = series.counter('punctual_leases_lost_total', 'Shard leases lost by this process.')
  const shardsHeld = series.gaugeRead('punctual_shards_held', 'Shards whose lease this process holds.')
  const jumps = series.counterOf(
    'punctual_clock_jumps_total',
    'Jumps of the Redis clock: forward by more than 10 s, or back by more than 5 s.',
    { direction: ['forward', 'backward'] },
  )
  const behind = series.gauge(
    'punctual_clock_behind_seconds',
    'How far the Redis clock is behind where it was before it was set back: jobs and crons wait as long.',
  )
  behind.set(0)
  const held = series.gauge(
    'punctual_clock_held_seconds',
    'How far time is held ahead of a Redis clock that was set back.',
  )
  held.set(0)
  const alerts = series.counter(
    'punctual_alerts_total',
    'Alerts raised by this process, muted or not.',
    'type',
    'resource',
  )
  for (const type of ALERT_TYPES)
    for (const resource of ALERT_RESOURCE_KINDS) alerts.inc({ type, resource }, 0)
  const seconds = series.histogram('punctual_redis_step_duration_seconds', {
    help: 'Round trip of one step in Redis.',
    seconds: STEP_SECONDS,
    labels: ['step'],
  })
  const errors = series.counter('punctual_redis_step_errors_total', 'Steps in Redis that failed.', 'step')
  return {
    shardsHeld,
    leaseLost: () => leases.inc(),
    clockJumped: (direction) => jumps.inc({ direction }),
    clockBehind: (seconds) => behind.set(seconds),
    clockHeld: (seconds) => held.set(seconds),
    alertsRaised: (type, resource, count) => alerts.inc({ type, resource }, count),
    redisStep: (step, duration, ok) => {
      seconds.observe({ step }, duration)
      errors.inc({ step }, ok ? 0 : 1)
    },
  }
}

function loopMetrics(series: Series): LoopMetrics {
  const setAside = series.counterOf(
    'punctual_set_aside_total',
    'Things left out because our own code threw over them.',
    { kind: SET_ASIDE_KINDS },
  )
  const failures = series.counterOf(
    'punctual_loop_failures_total',
    'Turns of loops that failed because of a defect.',
    { loop: LOOP_NAMES },
  )
  const failing = series.gauge(
    'punctual_loops_failing',
    'Loops whose last three iterations or more failed.',
    'loop',
  )
  for (const loop of LOOP_NAMES) failing.set({ loop }, 0)
  return {
    setAside: (kind) => setAside.inc({ kind }),
    loopFailed: (loop) => failures.inc({ loop }),
    loopsFailing: (loop, count) => failing.set({ loop }, count),
  }
}
