import { type Command, Option } from 'commander'
import type { Inputs } from '../../../clients/typescript/src/client.ts'
import { durationMs } from '../given-time.ts'
import type { JobFilterFlags } from './job-filters.ts'
import { givenNumber } from '../given-settings.ts'

type JobQuery = Inputs['listJobs']

const ORDERS = ['newest', 'oldest', 'queue'] as const

/** What `listed` adds. */
export interface ListFlags {
  readonly notQueue?: string
  readonly notFailureReason?: NonNullable<JobQuery['not_failure_reason']>
  readonly notResponseStatus?: string
  readonly notHost?: string
  readonly slowerThan?: string
  readonly order?: (typeof ORDERS)[number]
}

/** Adds what only a list of jobs takes, and no bulk. */
export function listed(command: Command): Command {
  return command
    .option('--not-queue <queue>', 'only jobs of other queues than this one')
    .option('--not-failure-reason <reason>', 'only jobs that did not fail for this reason')
    .option('--not-response-status <code>', 'only jobs that were not answered with this status')
    .option('--not-host <host>', 'only jobs that call another host')
    .option('--slower-than <duration>', 'only jobs whose call took longer, such as 500ms or 2s')
    .addOption(
      new Option(
        '--order <order>',
        'newest or oldest over all queues, or queue by queue (default: newest where a filter is for what has ended, a host or a time)',
      ).choices(ORDERS),
    )
}

/** What a list takes beside the filters. Spans go as they were given, so that all pages count back from one time. */
export function listOf(flags: ListFlags & JobFilterFlags): JobQuery {
  const { slowerThan, order } = flags
  return {
    ...spansOf(flags),
    not_queue: flags.notQueue,
    not_failure_reason: flags.notFailureReason,
    not_response_status: givenNumber('--not-response-status', flags.notResponseStatus),
    not_host: flags.notHost,
    slower_than_ms: slowerThan === undefined ? undefined : slowerThanMs(slowerThan),
    order,
  }
}

function spansOf(flags: JobFilterFlags): JobQuery {
  const times = {
    created_after: flags.createdAfter,
    created_before: flags.createdBefore,
    scheduled_after: flags.scheduledAfter,
    scheduled_before: flags.scheduledBefore,
    ended_after: flags.endedAfter,
    ended_before: flags.endedBefore,
  }
  return Object.fromEntries(Object.entries(times).filter(([, text]) => /^[0-9]+[smhd]$/.test(text ?? '')))
}

/** A call may be slow by less than a second, which no other duration counts. */
function slowerThanMs(text: string): number {
  const [, ms] = /^([1-9][0-9]{0,7})ms$/.exec(text) ?? []
  return ms === undefined ? durationMs('--slower-than', text) : Number(ms)
}
