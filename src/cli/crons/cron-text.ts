import type {
  CreatedCron,
  Cron,
  CronList,
  CronPreview,
  CronRun,
  CronRunList,
  CronSummary,
  StartedRun,
} from '../../../clients/typescript/src/client.ts'
import { managedLines } from '../output/managed-lines.ts'
import { factView, itemView, listView } from '../output/view.ts'

/** One line per cron. */
export const CRON_LIST = listView<CronList, CronSummary>({
  kind: 'cron',
  items: (list) => list.crons,
  id: (cron) => cron.id,
  columns: [
    { head: 'CRON', cell: (cron) => String(cron.id) },
    { head: 'NAME', cell: (cron) => cron.name, isMain: true },
    { head: 'EXPRESSION', cell: (cron) => cron.cron_expression },
    { head: 'ZONE', cell: (cron) => cron.time_zone },
    { head: 'STATE', cell: (cron) => (cron.is_active ? 'active' : 'paused') },
    { head: 'NEXT', cell: (cron) => cron.next_run_at ?? '-' },
    { head: 'LAST', cell: (cron) => cron.last_run?.result ?? '-' },
    { head: 'QUEUE', cell: (cron) => cron.queue ?? '-', isWide: true },
    { head: 'FAILURES', cell: (cron) => String(cron.consecutive_failures), isWide: true },
    { head: 'TARGET', cell: (cron) => `${cron.method} ${cron.url}` },
  ],
})

export const CRON_PAGE = itemView<Cron>({ kind: 'cron', id: (cron) => cron.id, lines: cronLines })

export const CREATED_CRON = itemView<CreatedCron>({
  kind: 'cron',
  id: (cron) => cron.id,
  lines: ({ id, next_run_at: next }) => [
    next === null ? `cron ${id}, paused` : `cron ${id}, next run at ${next}`,
  ],
})

export const STARTED_RUN = itemView<StartedRun>({
  kind: 'job',
  id: (started) => started.job_id,
  lines: (started) => [`job ${started.job_id} of cron ${started.cron_id}`],
})

/** One line per tick or run, newest first. */
export const RUN_LIST = listView<CronRunList, CronRun>({
  kind: 'job',
  plural: 'runs',
  items: (list) => list.runs,
  id: (run) => run.job_id ?? '-',
  columns: [
    { head: 'SCHEDULED', cell: (run) => run.scheduled_at },
    { head: 'RESULT', cell: (run) => run.result },
    { head: 'JOB', cell: (run) => (run.job_id === null ? '-' : String(run.job_id)) },
    { head: '', cell: remarkOf },
  ],
})

export const PREVIEW = factView<CronPreview>((preview) => [preview.description, ...preview.next_runs])

function cronLines(cron: Cron): readonly string[] {
  const { last_run: last, queue } = cron
  const failures = cron.consecutive_failures
  return [
    `cron ${cron.id}  ${cron.name}`,
    `${cron.method} ${cron.url}`,
    `${cron.cron_expression}  ${cron.time_zone}${cron.is_active ? '' : '  (paused)'}`,
    ...(queue === null ? [] : [`queue ${queue}`]),
    `next ${cron.next_run_at ?? '-'}`,
    `last ${last === null ? '-' : runText(last)}`,
    ...(cron.record_responses === 'none' ? ['of responses only the status is kept'] : []),
    ...(failures === 0 ? [] : [`failures in a row: ${failures}`]),
    ...managedLines(cron.managed_by),
    ...cron.warnings,
  ]
}

function runText(run: CronRun): string {
  const job = run.job_id === null ? '' : `, job ${run.job_id}`
  const remark = remarkOf(run)
  return `${run.scheduled_at}: ${run.result}${job}${remark === '' ? '' : ` (${remark})`}`
}

function remarkOf({ is_manual: isManual, ticks }: CronRun): string {
  if (isManual) return 'manual'
  return ticks === 1 ? '' : `${ticks} ticks`
}
