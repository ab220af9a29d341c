import type {
  Call,
  HeaderLine,
  Job,
  JobList,
  JobSummary,
  ScheduledJob,
} from '../../../clients/typescript/src/client.ts'
import { columns } from '../output/text-table.ts'
import { itemView, listView, type Screen } from '../output/view.ts'
import type { ShownJob } from './newest-attempt.ts'
import { waitingText } from './waiting-text.ts'

/** One line per job. */
export const JOB_LIST = listView<JobList, JobSummary>({
  kind: 'job',
  items: (list) => list.jobs,
  id: (job) => job.job_id,
  columns: [
    { head: 'JOB', cell: (job) => String(job.job_id) },
    { head: 'QUEUE', cell: (job) => job.queue ?? '-' },
    { head: 'STATUS', cell: (job) => job.status },
    { head: 'FINAL', cell: (job) => job.final_status ?? '-' },
    { head: 'ATTEMPT', cell: (job) => String(job.attempt_number) },
    { head: 'SCHEDULED', cell: (job) => job.scheduled_at },
    { head: 'ANSWER', cell: (job) => String(job.response_status ?? '-'), isWide: true },
    { head: 'TOOK', cell: (job) => tookText(job), isWide: true },
    { head: 'REASON', cell: (job) => job.failure_reason ?? '-', isWide: true },
    { head: 'TAGS', cell: (job) => tagText(job), isWide: true },
    { head: 'TARGET', cell: (job) => `${job.method} ${job.url}`, isMain: true },
  ],
})

export const JOB_PAGE = itemView<ShownJob>({ kind: 'job', id: (job) => job.job_id, lines: jobLines })

export const SCHEDULED = itemView<ScheduledJob>({
  kind: 'job',
  id: (job) => job.job_id,
  lines: (job) => [`job ${job.job_id} in queue ${job.queue_id}, scheduled at ${job.scheduled_at}`],
})

/** The job's chain, one line per attempt, then the last call of the newest; all calls of both when there is room. */
function jobLines(job: ShownJob, { isWide, width }: Screen): readonly string[] {
  const lines = [
    `job ${job.job_id}  ${job.uuid}`,
    ...(job.cron_id === null ? [] : [`run of cron ${job.cron_id}`]),
    ...((job.bulk_id ?? null) === null ? [] : [`made by bulk ${job.bulk_id}`]),
    ...(job.queue === null ? [] : [`queue ${job.queue} (${job.queue_id})`]),
    `${job.method} ${job.url}`,
    ...(job.callback_url === null ? [] : [`callback to ${job.callback_url}`]),
    `${job.status}${job.final_status === null ? '' : `, ${job.final_status}`}`,
    ...(job.replayed_as === null || job.replayed_as === undefined
      ? []
      : [`replayed as job ${job.replayed_as} (punctual job ${job.replayed_as})`]),
    ...(job.waiting ? [waitingText(job.waiting)] : []),
    '',
    columns([ATTEMPT_HEADS, ...job.chain.map(attemptRow)], { max: width, main: ATTEMPT_HEADS.length - 1 }),
  ]
  const { newest = null } = job
  if (isWide) return [...lines, ...allCalls(job), ...(newest === null ? [] : allCalls(newest))]
  const shown = newest !== null && newest.calls.length > 0 ? newest : job
  const last = shown.calls.at(-1)
  return last === undefined ? lines : [...lines, '', ...callLines(shown, last)]
}

const ATTEMPT_HEADS = ['ATTEMPT', 'JOB', 'STATUS', 'SCHEDULED', 'ANSWER', 'TOOK', 'ERROR']

function allCalls(job: Job): readonly string[] {
  return job.calls.flatMap((call) => ['', ...callLines(job, call)])
}

function attemptRow(job: JobSummary): string[] {
  return [
    String(job.attempt_number),
    String(job.job_id),
    job.status,
    job.scheduled_at,
    job.response_status === null ? '-' : String(job.response_status),
    tookText(job),
    job.failure_reason === null ? '' : `${job.failure_reason}: ${job.error_message ?? ''}`,
  ]
}

function callLines(job: Job, call: Call): string[] {
  const { request, response } = call
  return [
    `${call === job.calls.at(-1) ? 'last call' : 'call'} of job ${job.job_id}, ${call.started_at}, ${Math.round(call.duration_ms)} ms${laterAttempt(job)}`,
    ...messageLines('> ', `${request.method} ${request.url}`, request.headers, request.body),
    ...(request.body_truncated ? ['> (truncated)'] : []),
    ...(response === null
      ? [`< no answer: ${call.error_message ?? ''}`]
      : messageLines('< ', String(response.status), response.headers, response.body)),
    ...(response?.is_recorded === false ? ['< (nothing else of the response is kept)'] : []),
    ...(response?.headers_truncated === true ? ['< (further headers are not kept)'] : []),
    ...(response?.body_truncated === true ? ['< (truncated)'] : []),
    ...(response?.protocol_notes ?? []).map((note) => `< (against HTTP/1.1: ${note})`),
  ]
}

/** Points to the chain's last attempt, whose calls belong to another job id. */
function laterAttempt(job: Job): string {
  const tried = job.chain.filter(({ started_at }) => started_at !== null).at(-1)
  if (tried === undefined || tried.attempt_number <= job.attempt_number) return ''
  return ` (attempt ${tried.attempt_number}: punctual job ${tried.job_id})`
}

function messageLines(
  mark: string,
  start: string,
  headers: readonly HeaderLine[],
  body: string | null,
): string[] {
  const lines = [start, ...headers.map(({ name, value }) => `${name}: ${value}`)]
  if (body !== null && body !== '') lines.push('', ...body.split('\n'))
  return lines.map((line) => `${mark}${line}`.trimEnd())
}

function tookText({ duration_ms: durationMs }: JobSummary): string {
  return durationMs === null ? '-' : `${Math.round(durationMs)} ms`
}

function tagText({ tags }: JobSummary): string {
  const pairs = Object.entries(tags).map(([name, value]) => `${name}=${value}`)
  return pairs.length === 0 ? '-' : pairs.join(',')
}
