import type { CronSettings } from '../../domain/crons/cron.ts'
import { CRON_FINALIZER, holdsFinalizer, isDeleted } from '../../resources/finalizers.ts'
import type { HttpCron } from '../kinds.ts'
import type { Plan } from '../reconcile/resource-reconciler.ts'
import type { CronCheck } from './cron-check.ts'
import type { CronOutcome } from './cron-conditions.ts'
import type { CronQuota } from './cron-quota.ts'
import type { CronTargets } from './cron-targets.ts'

export interface DesiredCron {
  readonly settings: CronSettings
  /** Says why the cron exceeds its team's quota and is paused; null = it does not. */
  readonly overQuota: string | null
}

export interface CronJudges {
  readonly check: CronCheck
  readonly targets: Pick<CronTargets, 'obstacle'>
  readonly quota: Pick<CronQuota, 'obstacle'>
}

/** Decides what happens to one cron; undefined = it has no resource. */
export function planCron(
  object: HttpCron | undefined,
  { check, targets, quota }: CronJudges,
): Plan<HttpCron, DesiredCron, CronOutcome> {
  if (object === undefined) return { kind: 'absent' }
  if (isDeleted(object)) {
    return holdsFinalizer(object, CRON_FINALIZER) ? { kind: 'remove', object } : { kind: 'nothing' }
  }
  const checked = check(object)
  if ('problem' in checked) return { kind: 'refuse', object, outcome: { kind: 'refused', ...checked } }
  const blocked = targets.obstacle(object)
  if (blocked !== null) return { kind: 'refuse', object, outcome: { kind: 'refused', ...blocked } }
  const { settings } = checked
  const overQuota = quota.obstacle(object)
  if (overQuota === null) return { kind: 'apply', object, desired: { settings, overQuota } }
  // A cron that was never applied has nothing to pause.
  return object.status?.id === undefined
    ? { kind: 'refuse', object, outcome: { kind: 'over_quota', obstacle: overQuota } }
    : { kind: 'apply', object, desired: { settings: { ...settings, isActive: false }, overQuota } }
}
