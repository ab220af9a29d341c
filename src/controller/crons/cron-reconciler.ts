import type { CronStatsEntry } from '../../ports/crons.ts'
import type { ObjectKey, Reconciler } from '../../ports/kubernetes.ts'
import type { ControllerMetrics } from '../../ports/metrics.ts'
import { CRON_FINALIZER, isDeleted } from '../../resources/finalizers.ts'
import { keyOf, type HttpCron } from '../kinds.ts'
import { FINALIZER_TIMEOUT_MS } from '../reconcile/finalizer-timeout.ts'
import {
  ResourceReconciler,
  type FinalizedKind,
  type FinalizedParts,
} from '../reconcile/resource-reconciler.ts'
import { CHANGE_PENDING, StatusWriter } from '../reconcile/status-writer.ts'
import type { CronCheck } from './cron-check.ts'
import type { CronOutcome } from './cron-conditions.ts'
import { planCron, type DesiredCron } from './cron-plan.ts'
import type { CronQuota } from './cron-quota.ts'
import { cronStatus } from './cron-status.ts'

export interface CronReconcilerParts extends FinalizedParts<HttpCron> {
  readonly quota: Pick<CronQuota, 'obstacle'>
  readonly check: CronCheck
  /** As read last; null = not yet. */
  readonly stateOf: (key: ObjectKey) => CronStatsEntry | null
  readonly metrics: Pick<ControllerMetrics, 'cronLeftBehind' | 'statusWritten'>
}

/** Keys are `namespace/name`, which also name the cron in Redis. */
export function createCronReconciler(parts: CronReconcilerParts): Reconciler {
  const { informer, writer, check, quota, engine, clock, metrics } = parts
  const status = new StatusWriter<HttpCron, CronOutcome>({
    ...{ ...parts, kind: 'HttpCron', action: 'ApplyCron' },
    pending: (cron) => (isDeleted(cron) ? 'the cron is removed' : CHANGE_PENDING),
    statusOf: (cron, outcome) =>
      cronStatus(cron, outcome, { state: parts.stateOf(keyOf(cron)), wallMs: clock.wallMs() }),
  })
  const kind: FinalizedKind<HttpCron, DesiredCron, CronOutcome> = {
    noun: 'cron',
    finalizer: CRON_FINALIZER,
    status,
    objectsOf: (key) => [informer.get(key)].filter((cron) => cron !== undefined),
    plan: async ([cron]) => {
      const plan = planCron(cron, check, quota)
      if (plan.kind !== 'apply' || plan.object.leftOutBytes === undefined) return plan
      // The informer leaves out large payloads, so the cron is read in full.
      const { namespace, name, uid } = plan.object.metadata
      const whole = await writer.read(namespace, name)
      return whole?.metadata.uid === uid ? planCron(whole, check, quota) : { kind: 'nothing' }
    },
    apply: async ({ metadata, status: before }, { settings, overQuota }) => {
      const { namespace, name } = metadata
      // After a loss of data the cron gets back the id that its users know.
      const { cronId, nextRunAtMs } = await engine.write((compiler) =>
        compiler.applyCron(namespace, name, settings, before?.id ?? null),
      )
      return overQuota === null
        ? { kind: 'applied', cronId, nextRunAtMs }
        : { kind: 'over_quota', obstacle: overQuota }
    },
    remove: (compiler, { team, name }) => compiler.removeCron(team, name),
    leftBehind: {
      reason: 'CronLeftBehind',
      action: 'RemoveCron',
      note: `Redis could not be written to for ${FINALIZER_TIMEOUT_MS / 60_000} minutes: this resource is deleted now, and its cron keeps ticking until the controller finds it in Redis.`,
    },
    countLeftBehind: () => metrics.cronLeftBehind(),
  }
  return new ResourceReconciler(kind, parts)
}
