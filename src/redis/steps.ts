import type { Step } from './client/step.ts'
import { loadScript, type Rewrite, type Script } from './client/scripts.ts'
import { ASK_AUDIT, SETTLE_AUDIT } from './audit-log/asked-audit.ts'
import { TAKE_RATE } from './access/take-rate.ts'
import { CHANGE_ALERTS } from './alerts/alert-changes.ts'
import { FORGET_ALERTS } from './alerts/forget-alerts.ts'
import { READ_RING } from './inspection/inspect-ring.ts'
import { READ_CLOCK } from './client/shard-clock.ts'
import { CREATE_BULK, PUT_PART, SET_BULK, TAKE_TURN } from './bulk/records/bulk-steps.ts'
import { DELETE_PAGE, MOVE_PART, OPEN_PAGE, PURGE_PAGE, REMAKE_PAGE } from './bulk/pages/page-steps.ts'
import { BEGIN_EPOCH, TAKE_EPOCH } from './control/leader-epochs.ts'
import { PUT_SETTING } from './control/setting/put-setting.ts'
import { PUT_SECRETS } from './control/secrets/put-secrets.ts'
import { PUT_TOKEN } from './control/tokens/token-writer.ts'
import { READ_CRONS } from './crons/cron-listing.ts'
import { TICK } from './crons/tick/tick-call.ts'
import { DROP_CRON, PLACE_CRON, REMOVE_CRON, RESERVE_CRON, RETIRE_CRON } from './crons/write/cron-steps.ts'
import { SET_CRON } from './crons/write/set-cron.ts'
import { ENQUEUE } from './enqueue/enqueue-batch.ts'
import { RESERVE_IDS } from './enqueue/sequence.ts'
import { CLAIM } from './execute/claim/ready-claims.ts'
import { CLAIM_SUSPECTS } from './execute/claim/suspect-claims.ts'
import { FINISH, REAP } from './execute/finish/batch.ts'
import { BEAT } from './execute/job-source.ts'
import { FIRE } from './mending/fire-job.ts'
import { REPLAY, RETRY } from './mending/remake-job.ts'
import { REMOVE_JOB } from './mending/remove-job.ts'
import { READ_LIVE } from './live/shard-look.ts'
import { LOOK_QUEUES } from './limit-warnings/queue-look.ts'
import { TAKE_LOOK } from './limit-warnings/look-place.ts'
import { WARN } from './limit-warnings/warn.ts'
import { CLEAR_NOTICE, MARK_CHANNELS, SET_CHANNEL } from './notifications/channel-steps.ts'
import { POUR, PROMOTE } from './maintenance/promotion.ts'
import { CHECK_RING, CHECK_TEAMS } from './maintenance/ring/ring-check.ts'
import { RESERVE_QUEUE } from './names/queue-names.ts'
import { FORGET_TEAM } from './namespaces/erase-team.ts'
import { LIST_NAMES } from './names/team-names.ts'
import { READ_BACKLOG } from './queues/backlog-reader.ts'
import { READ_QUEUES } from './queues/queue-reader.ts'
import { COUNT_QUEUES } from './queues/queue-stats.ts'
import { DELETE_QUEUE, SET_QUEUE } from './queues/queue-writer.ts'
import { CREATE_CODE, TAKE_CODE } from './sessions/login-codes.ts'
import { END_SESSION, OPEN_SESSION, USE_SESSION } from './sessions/session-store.ts'
import { READ_USAGE } from './quotas/usage-reader.ts'
import { READ_TALLIES } from './statistics/statistics-reader.ts'
import { SAMPLE_QUEUES } from './statistics/sampler.ts'
import { FOLD } from './statistics/tally-store.ts'
import { EXPLAIN } from './waiting/wait-explainer.ts'
import { EVICT_CALLS } from './retention/call-records.ts'
import { PURGE } from './retention/dead-letters.ts'
import { TRIM } from './history/finished-chains.ts'
import { MATCH_BLOCKS } from './history/blocks/block-reads.ts'
import { READ_HISTORY } from './history/history-reads.ts'
import { SEAL } from './history/sealer.ts'
import { RESCHEDULE } from './maintenance/retention-sweep.ts'
import { RESEAL } from './control/sealed/reseal.ts'
import { EMPTY_TRASH } from './retention/trash.ts'

const DESCRIBED = [
  ASK_AUDIT,
  SETTLE_AUDIT,
  CREATE_BULK,
  SET_BULK,
  PUT_PART,
  TAKE_TURN,
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
  COUNT_QUEUES,
  CREATE_CODE,
  DELETE_QUEUE,
  DROP_CRON,
  EMPTY_TRASH,
  END_SESSION,
  ENQUEUE,
  EVICT_CALLS,
  EXPLAIN,
  FINISH,
  FIRE,
  FOLD,
  FORGET_ALERTS,
  FORGET_TEAM,
  LIST_NAMES,
  LOOK_QUEUES,
  MATCH_BLOCKS,
  OPEN_SESSION,
  PLACE_CRON,
  POUR,
  PROMOTE,
  PURGE,
  PUT_SETTING,
  PUT_SECRETS,
  PUT_TOKEN,
  RESEAL,
  READ_BACKLOG,
  READ_CLOCK,
  READ_CRONS,
  READ_HISTORY,
  READ_LIVE,
  READ_QUEUES,
  READ_RING,
  READ_TALLIES,
  READ_USAGE,
  REAP,
  REMOVE_CRON,
  REMOVE_JOB,
  REPLAY,
  RESCHEDULE,
  RESERVE_CRON,
  RESERVE_IDS,
  RESERVE_QUEUE,
  RETIRE_CRON,
  RETRY,
  SAMPLE_QUEUES,
  SEAL,
  SET_CRON,
  SET_QUEUE,
  TAKE_CODE,
  TAKE_EPOCH,
  TAKE_RATE,
  TAKE_LOOK,
  TICK,
  TRIM,
  USE_SESSION,
  WARN,
] as const

export type StepName = (typeof DESCRIBED)[number]['name']
export type Scripts = Readonly<Record<StepName, Script>>

/** Every step of the engine. */
export const STEPS: ReadonlyArray<Pick<Step<StepName>, 'name' | 'url' | 'shape'>> = DESCRIBED

export function loadScripts(rewrite: Rewrite = (source) => source): Scripts {
  const entries = STEPS.map((step) => [step.name, loadScript(step, rewrite)])
  return Object.fromEntries(entries) as Record<StepName, Script>
}
