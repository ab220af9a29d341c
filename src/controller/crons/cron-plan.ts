import type { CronSettings } from '../../domain/crons/cron.ts'
import { CRON_FINALIZER } from '../../resources/cron-claim.ts'
import type { CronCheck, CronProblem } from './cron-check.ts'
import type { CronQuota } from './cron-quota.ts'
import type { HttpCron } from '../kinds.ts'

/** What is to happen to one cron. */
export type CronStep =
  /** There is no resource: there was none, or it went without its finalizer. */
  | { readonly kind: 'vanished' }
  /** Deleted, with our part done; a finalizer of someone else still keeps it. */
  | { readonly kind: 'let_go' }
  /** Deleted by its owner: the cron goes first, the finalizer after it. */
  | { readonly kind: 'remove'; readonly cron: HttpCron }
  /** The engine keeps what it has. */
  | { readonly kind: 'refuse'; readonly cron: HttpCron; readonly problem: CronProblem }
  /** Beyond what its team may have. One that was in force before is paused, and keeps what it has. */
  | {
      readonly kind: 'no_room'
      readonly cron: HttpCron
      readonly obstacle: string
      readonly settings: CronSettings
    }
  | { readonly kind: 'apply'; readonly cron: HttpCron; readonly settings: CronSettings }

export function planCron(
  cron: HttpCron | undefined,
  check: CronCheck,
  room: Pick<CronQuota, 'obstacle'>,
): CronStep {
  if (cron === undefined) return { kind: 'vanished' }
  if (cron.metadata.deletionTimestamp !== undefined) {
    const isHeld = cron.metadata.finalizers?.includes(CRON_FINALIZER) === true
    return isHeld ? { kind: 'remove', cron } : { kind: 'let_go' }
  }
  const checked = check(cron)
  if ('problem' in checked) return { kind: 'refuse', cron, problem: checked }
  const { settings } = checked
  const obstacle = room.obstacle(cron)
  return obstacle === null
    ? { kind: 'apply', cron, settings }
    : { kind: 'no_room', cron, obstacle, settings: { ...settings, isActive: false } }
}
