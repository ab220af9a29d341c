import { type Command, Option } from 'commander'
import type { Inputs } from '../../../clients/typescript/src/client.ts'
import type { Api } from '../connection/api.ts'
import { cronIdOf, queueNameOf } from '../connection/named-ids.ts'
import { givenNumber } from '../given-settings.ts'
import { tagFilter } from '../given-pairs.ts'
import { TIME_BACK, timeBack } from '../given-time.ts'

type JobQuery = Inputs['listJobs']

const STATUSES = ['pending', 'processing', 'completed', 'failed', 'dead_lettered'] as const
const FINAL_STATUSES = [
  'success',
  'retrying',
  'failed_with_retries',
  'failed_no_retries',
  'dead_lettered',
] as const

/** What `filtered` adds. */
export interface JobFilterFlags {
  readonly queue?: string
  readonly status?: string
  readonly finalStatus?: (typeof FINAL_STATUSES)[number]
  readonly failureReason?: NonNullable<JobQuery['failure_reason']>
  readonly responseStatus?: string
  readonly host?: string
  readonly tag?: string
  readonly cron?: string
  readonly createdAfter?: string
  readonly createdBefore?: string
  readonly scheduledAfter?: string
  readonly scheduledBefore?: string
  readonly endedAfter?: string
  readonly endedBefore?: string
  readonly text?: string
}

/** Adds the filters of jobs. */
export function filtered(command: Command): Command {
  return command
    .option('--queue <queue>', 'only jobs of this queue, by its name or id')
    .addOption(
      // A list takes several, which the API judges.
      new Option(
        '--status <status>',
        'only jobs with this status; in a list also several, with commas between',
      )
        .choices(STATUSES)
        .argParser((text: string) => text),
    )
    .addOption(
      new Option('--final-status <status>', 'only jobs with this final status').choices(FINAL_STATUSES),
    )
    .option('--failure-reason <reason>', 'only jobs that failed for this reason, such as timeout')
    .option('--response-status <code>', 'only jobs that were answered with this status')
    .option('--host <host>', 'only jobs that call this host')
    .option('--tag <name=value>', 'only jobs with this tag')
    .option('--cron <cron>', 'only runs of this cron, by its name or id')
    .option('--created-after <time>', `only jobs created from this time on, such as ${TIME_BACK}`)
    .option('--created-before <time>', 'only jobs created before this time')
    .option('--scheduled-after <time>', 'only jobs due from this time on')
    .option('--scheduled-before <time>', 'only jobs due before this time')
    .option('--ended-after <time>', 'only jobs that ended from this time on')
    .option('--ended-before <time>', 'only jobs that ended before this time')
    .option('--text <text>', 'only jobs with this text in URL, payload, error or answer')
}

/** As the API takes them; names of crons and ids of queues are looked up. */
export async function filterOf(api: Api, flags: JobFilterFlags, nowMs: number): Promise<JobQuery> {
  const { queue, status, host, tag, text, responseStatus, cron } = flags
  return {
    queue: queue === undefined ? undefined : await queueNameOf(api, queue),
    status,
    host,
    tag: tagFilter(tag),
    text,
    final_status: flags.finalStatus,
    failure_reason: flags.failureReason,
    response_status: givenNumber('--response-status', responseStatus),
    cron_id: cron === undefined ? undefined : Number(await cronIdOf(api, cron)),
    ...timesOf(flags, nowMs),
  }
}

function timesOf(flags: JobFilterFlags, nowMs: number): Partial<JobQuery> {
  return {
    created_after: timeBack('--created-after', flags.createdAfter, nowMs),
    created_before: timeBack('--created-before', flags.createdBefore, nowMs),
    scheduled_after: timeBack('--scheduled-after', flags.scheduledAfter, nowMs),
    scheduled_before: timeBack('--scheduled-before', flags.scheduledBefore, nowMs),
    ended_after: timeBack('--ended-after', flags.endedAfter, nowMs),
    ended_before: timeBack('--ended-before', flags.endedBefore, nowMs),
  }
}
