import { loadScript, type Rewrite, type Script } from './client/scripts.ts'
import type { Step } from './client/step.ts'
import { BEAT } from './execute/job-source.ts'
import { POUR, PROMOTE } from './maintenance/promotion.ts'
import { READ_QUEUES } from './queues/queue-reader.ts'
import { COUNT_QUEUES } from './queues/queue-stats.ts'

/** Every step that has a description. */
const DESCRIBED = [BEAT, COUNT_QUEUES, POUR, PROMOTE, READ_QUEUES] as const

/** The folders of those that have none yet. */
const UNDESCRIBED = {
  begin_epoch: 'control',
  cancel: 'jobs',
  check_ring: 'maintenance/ring',
  check_teams: 'maintenance/ring',
  claim: 'execute/claim',
  claim_suspects: 'execute/claim',
  delete_queue: 'queues',
  drop_cron: 'crons/write',
  empty_trash: 'retention',
  enqueue: 'enqueue',
  evict_calls: 'retention',
  finish: 'execute/finish',
  list_names: 'names',
  place_cron: 'crons/write',
  purge: 'retention',
  put_setting: 'control',
  read_backlog: 'queues',
  read_crons: 'crons',
  read_usage: 'quotas',
  reap: 'maintenance',
  remove_cron: 'crons/write',
  replay: 'jobs',
  reschedule: 'retention',
  reserve_cron: 'crons/write',
  reserve_ids: 'enqueue',
  reserve_queue: 'names',
  retire_cron: 'crons/write',
  set_cron: 'crons/write',
  set_queue: 'queues',
  take_epoch: 'control',
  tick: 'crons/tick',
  trim: 'retention',
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
