import type { Step } from './base/engine/step.ts'
import { loadScript, type Rewrite, type Script } from './base/engine/scripts.ts'
import { ASK_AUDIT, SETTLE_AUDIT } from './ledger/audit-log/asked-audit.ts'
import { TAKE_RATE } from './control/access/take-rate.ts'
import { CHANGE_ALERTS } from './ledger/alerts/alert-changes.ts'
import { FORGET_ALERTS } from './ledger/alerts/forget-alerts.ts'
import { CHANGE_ISSUE } from './ledger/issues/issue-store.ts'
import { TEND_ISSUES } from './ledger/issues/tend-issues.ts'
import { READ_RING } from './upkeep/inspection/inspect-ring.ts'
import { READ_CLOCK } from './base/engine/shard-clock.ts'
import { TAKE_LOCK } from './base/engine/shard-lock.ts'
import {
  COUNT_OUTCOME,
  CREATE_BULK,
  PUT_PART,
  RESUME_PART,
  SET_BULK,
} from './jobs/bulk/records/bulk-steps.ts'
import {
  DELETE_PAGE,
  MOVE_PART,
  OPEN_PAGE,
  PURGE_PAGE,
  REMAKE_PAGE,
} from './jobs/mending/pages/page-steps.ts'
import { BEGIN_EPOCH, TAKE_EPOCH } from './control/leader-epochs.ts'
import { PUT_SETTING } from './control/compiler/put-setting.ts'
import { PUT_SECRETS } from './control/compiler/put-secrets.ts'
import { PUT_TOKEN } from './control/compiler/token-writer.ts'
import { READ_CRONS } from './crons/cron-listing.ts'
import { TICK } from './crons/tick/tick-call.ts'
import { DROP_CRON, PLACE_CRON, REMOVE_CRON, RESERVE_CRON, RETIRE_CRON } from './crons/write/cron-steps.ts'
import { SET_CRON } from './crons/write/set-cron.ts'
import { ENQUEUE } from './jobs/enqueue/enqueue-batch.ts'
import { TELL_LOSS } from './jobs/losses/tell-loss.ts'
import { RESERVE_IDS } from './jobs/enqueue/sequence.ts'
import { CLAIM } from './jobs/execute/claim/ready-claims.ts'
import { CLAIM_SUSPECTS } from './jobs/execute/claim/suspect-claims.ts'
import { FINISH, REAP } from './jobs/execute/finish/batch.ts'
import { BEAT } from './jobs/execute/job-source.ts'
import { READ_HOURS } from './watch/queue-lists/queue-hours.ts'
import { READ_LIVE } from './watch/live/live-shard-reading.ts'
import { TAKE_SCAN } from './watch/limit-warnings/scan-position.ts'
import { WARN } from './watch/limit-warnings/warn.ts'
import { CLEAR_NOTICE, MARK_CHANNELS, SET_CHANNEL } from './ledger/notifications/channel-steps.ts'
import { POUR, PROMOTE } from './upkeep/maintenance/promotion.ts'
import { CHECK_RING, CHECK_TEAMS } from './upkeep/maintenance/ring-check.ts'
import { RESERVE_QUEUE } from './base/names/queue-names.ts'
import { FORGET_TEAM } from './control/namespaces/erase-team.ts'
import { LIST_NAMES } from './base/names/team-names.ts'
import { READ_BACKLOG } from './jobs/queues/backlog-reader.ts'
import { READ_QUEUES } from './jobs/queues/queue-parts.ts'
import { DELETE_QUEUE, SET_QUEUE, UNTHROTTLE } from './jobs/queues/write/queue-writer.ts'
import { CREATE_CODE, TAKE_CODE } from './control/sessions/login-codes.ts'
import { END_SESSION, LIST_SESSIONS, OPEN_SESSION, USE_SESSION } from './control/sessions/session-store.ts'
import { READ_USAGE } from './ledger/quotas/usage-reader.ts'
import { READ_TALLIES } from './watch/statistics/statistics-reader.ts'
import { FOLD } from './watch/statistics/tally-store.ts'
import { EXPLAIN } from './watch/wait-explainer.ts'
import { EVICT_CALLS } from './ledger/retention/call-records.ts'
import { PURGE } from './ledger/retention/dead-letters.ts'
import { TRIM } from './jobs/history/finished-chains.ts'
import { NEWEST_ENDS } from './jobs/search/newest/ended-places.ts'
import { READ_ENDED } from './jobs/search/newest/ended-rows.ts'
import { MATCH_BLOCKS } from './jobs/history/blocks/block-reads.ts'
import { READ_HISTORY } from './jobs/history/history-reads.ts'
import { SEAL } from './jobs/history/sealer.ts'
import { RESCHEDULE } from './upkeep/maintenance/retention-sweep.ts'
import { RESEAL } from './control/compiler/reseal.ts'
import { EMPTY_TRASH } from './ledger/retention/trash.ts'

const DESCRIBED = [
  ASK_AUDIT,
  SETTLE_AUDIT,
  CREATE_BULK,
  SET_BULK,
  PUT_PART,
  RESUME_PART,
  COUNT_OUTCOME,
  MOVE_PART,
  OPEN_PAGE,
  DELETE_PAGE,
  PURGE_PAGE,
  REMAKE_PAGE,
  CLEAR_NOTICE,
  MARK_CHANNELS,
  SET_CHANNEL,
  BEAT,
  BEGIN_EPOCH,
  CHANGE_ALERTS,
  CHECK_RING,
  CHECK_TEAMS,
  CLAIM,
  CLAIM_SUSPECTS,
  CREATE_CODE,
  DELETE_QUEUE,
  DROP_CRON,
  EMPTY_TRASH,
  END_SESSION,
  ENQUEUE,
  EVICT_CALLS,
  EXPLAIN,
  FINISH,
  FOLD,
  CHANGE_ISSUE,
  TEND_ISSUES,
  FORGET_ALERTS,
  FORGET_TEAM,
  LIST_NAMES,
  LIST_SESSIONS,
  MATCH_BLOCKS,
  NEWEST_ENDS,
  OPEN_SESSION,
  PLACE_CRON,
  POUR,
  PROMOTE,
  PURGE,
  PUT_SETTING,
  PUT_SECRETS,
  PUT_TOKEN,
  READ_ENDED,
  RESEAL,
  READ_BACKLOG,
  READ_CLOCK,
  READ_CRONS,
  READ_HISTORY,
  READ_HOURS,
  READ_LIVE,
  READ_QUEUES,
  READ_RING,
  READ_TALLIES,
  READ_USAGE,
  REAP,
  REMOVE_CRON,
  RESCHEDULE,
  RESERVE_CRON,
  RESERVE_IDS,
  RESERVE_QUEUE,
  RETIRE_CRON,
  SEAL,
  SET_CRON,
  SET_QUEUE,
  TAKE_CODE,
  TAKE_EPOCH,
  TAKE_RATE,
  TAKE_LOCK,
  TAKE_SCAN,
  TELL_LOSS,
  TICK,
  TRIM,
  UNTHROTTLE,
  USE_SESSION,
  WARN,
] as const

/**
 * Steps after which a client is told that something will happen. With replicated durability the API answers once replicas
 * have them. Steps that claim, end or move jobs do without: what is lost of them happens again.
 */
export const ACCEPTING_STEPS: ReadonlySet<string> = new Set<StepName>([
  ENQUEUE.name,
  REMAKE_PAGE.name,
  OPEN_PAGE.name,
  DELETE_PAGE.name,
  PURGE_PAGE.name,
  TICK.name,
  CREATE_BULK.name,
  SET_BULK.name,
])

export type StepName = (typeof DESCRIBED)[number]['name']
export type Scripts = Readonly<Record<StepName, Script>>

/** Every step of the engine. */
export const STEPS: ReadonlyArray<Pick<Step<StepName>, 'name' | 'url' | 'shape'>> = DESCRIBED

export function loadScripts(rewrite: Rewrite = (source) => source): Scripts {
  const entries = STEPS.map((step) => [step.name, loadScript(step, rewrite)])
  return Object.fromEntries(entries) as Record<StepName, Script>
}
