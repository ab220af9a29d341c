import type { Call, HeaderLine, Job, JobList, JobSummary } from '../contract/generated/wire.ts'
import { columns, printable } from './text-table.ts'

/** One line per job. */
export function jobTable(list: JobList): string {
  const rows = list.jobs.map((job) => [
    String(job.job_id),
    job.queue ?? '-',
    job.status,
    job.final_status ?? '-',
    String(job.attempt_number),
    job.scheduled_at,
    `${job.method} ${job.url}`,
  ])
  const more = list.next_cursor === null ? '' : `next page: --cursor ${list.next_cursor}\n`
  return printable(
    `${columns([['JOB', 'QUEUE', 'STATUS', 'FINAL', 'ATTEMPT', 'SCHEDULED', 'TARGET'], ...rows])}\n${more}`,
  )
}

/** The job's chain, one line per attempt, then the request and response of the job's own last call. */
export function jobPage(job: Job): string {
  const lines = [
    `job ${job.job_id}  ${job.uuid}`,
    ...(job.cron_id === null ? [] : [`run of cron ${job.cron_id}`]),
    ...(job.queue === null ? [] : [`queue ${job.queue} (${job.queue_id})`]),
    `${job.method} ${job.url}`,
    `${job.status}${job.final_status === null ? '' : `, ${job.final_status}`}`,
    '',
    columns([
      ['ATTEMPT', 'JOB', 'STATUS', 'SCHEDULED', 'ANSWER', 'TOOK', 'ERROR'],
      ...job.chain.map(attemptRow),
    ]),
  ]
  const last = job.calls.at(-1)
  if (last !== undefined) lines.push('', ...callLines(job, last))
  return printable(`${lines.join('\n')}\n`)
}

function attemptRow(job: JobSummary): string[] {
  return [
    String(job.attempt_number),
    String(job.job_id),
    job.status,
    job.scheduled_at,
    job.response_status === null ? '-' : String(job.response_status),
    job.duration_ms === null ? '-' : `${Math.round(job.duration_ms)} ms`,
    job.failure_reason === null ? '' : `${job.failure_reason}: ${job.error_message ?? ''}`,
  ]
}

function callLines(job: Job, call: Call): string[] {
  const { request, response } = call
  return [
    `last call of job ${job.job_id}, ${call.started_at}, ${Math.round(call.duration_ms)} ms${laterAttempt(job)}`,
    ...messageLines('> ', `${request.method} ${request.url}`, request.headers, request.body),
    ...(request.body_truncated ? ['> (truncated)'] : []),
    ...(response === null
      ? [`< no answer: ${call.error_message ?? ''}`]
      : messageLines('< ', String(response.status), response.headers, response.body)),
    ...(response?.body_truncated === true ? ['< (truncated)'] : []),
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
