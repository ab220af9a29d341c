import { READ_RING } from './audit/audit-ring.ts'
import { READ_CLOCK } from './checks/shard-clock.ts'
import { loadScript, type Rewrite, type Script } from './client/scripts.ts'
import type { Step } from './client/step.ts'
import { FINISH, REAP } from './execute/finish/batch.ts'
import { BEAT } from './execute/job-source.ts'
import { RESERVE_IDS } from './enqueue/sequence.ts'
import { CHECK_RING, CHECK_TEAMS } from './maintenance/ring/ring-check.ts'
import { READ_USAGE } from './quotas/usage-reader.ts'
import { EVICT_CALLS } from './retention/call-records.ts'
import { PURGE } from './retention/dead-letters.ts'
import { TRIM } from './retention/finished-chains.ts'
import { RESCHEDULE } from './retention/retention-sweep.ts'
import { EMPTY_TRASH } from './retention/trash.ts'
import { POUR, PROMOTE } from './maintenance/promotion.ts'
import { READ_QUEUES } from './queues/queue-reader.ts'
import { COUNT_QUEUES } from './queues/queue-stats.ts'

/** Every step that has a description. */
const DESCRIBED = [
  BEAT,
  CHECK_RING,
  CHECK_TEAMS,
  COUNT_QUEUES,
  EMPTY_TRASH,
  EVICT_CALLS,
  FINISH,
  POUR,
  PROMOTE,
  PURGE,
  READ_CLOCK,
  READ_QUEUES,
  READ_RING,
  READ_USAGE,
  REAP,
  RESCHEDULE,
  RESERVE_IDS,
  TRIM,
] as const

/** The folders of those that have none yet. */
const UNDESCRIBED = {
  begin_epoch: 'control',
  cancel: 'jobs',
  claim: 'execute/claim',
  claim_suspects: 'execute/claim',
  delete_queue: 'queues',
  drop_cron: 'crons/write',
  enqueue: 'enqueue',
  list_names: 'names',
  place_cron: 'crons/write',
  put_setting: 'control',
  read_backlog: 'queues',
  read_crons: 'crons',
  remove_cron: 'crons/write',
  replay: 'jobs',
  reserve_cron: 'crons/write',
  reserve_queue: 'names',
  retire_cron: 'crons/write',
  set_cron: 'crons/write',
  set_queue: 'queues',
  take_epoch: 'control',
  tick: 'crons/tick',
} as const

export type StepName = (typeof DESCRIBED)[number]['name'] | keyof typeof UNDESCRIBED
export type Scripts = Readonly<Record<StepName, Script>>

export const STEPS: ReadonlyArray<Pick<Step<StepName>, 'name' | 'url' | 'shape'>> = [
  ...DESCRIBED,
  ...Object.entries(UNDESCRIBED).map(([name, folder]) => ({
    name: name as keyof typeof UNDESCRIBED,
    url: new URL(`./${folder}/${name}.lua`, import.meta.url),
    shape: {},
  })),
]

export function loadScripts(rewrite: Rewrite = (source) => source): Scripts {
  return Object.fromEntries(STEPS.map((step) => [step.name, loadScript(step, rewrite)])) as Record<
    StepName,
    Script
  >
}
