import type { Cron, CronList, CronPreview, CronRun, CronRunList } from '../contract/generated/wire.ts'
import { columns, printable } from './text-table.ts'

/** One line per cron. */
export function cronTable(list: CronList): string {
  const rows = list.crons.map((cron) => [
    String(cron.id),
    cron.name,
    cron.cron_expression,
    cron.time_zone,
    cron.is_active ? 'active' : 'paused',
    cron.next_run_at ?? '-',
    cron.last_run?.result ?? '-',
    `${cron.method} ${cron.url}`,
  ])
  const head = ['CRON', 'NAME', 'EXPRESSION', 'ZONE', 'STATE', 'NEXT', 'LAST', 'TARGET']
  return printable(`${columns([head, ...rows])}\n${moreLine(list.next_cursor)}`)
}

export function cronPage(cron: Cron): string {
  const { last_run: last, queue } = cron
  const failures = cron.consecutive_failures
  const lines = [
    `cron ${cron.id}  ${cron.name}`,
    `${cron.method} ${cron.url}`,
    `${cron.cron_expression}  ${cron.time_zone}${cron.is_active ? '' : '  (paused)'}`,
    ...(queue === null ? [] : [`queue ${queue}`]),
    `next ${cron.next_run_at ?? '-'}`,
    `last ${last === null ? '-' : runText(last)}`,
    ...(failures === 0 ? [] : [`failures in a row: ${failures}`]),
    ...cron.warnings,
  ]
  return printable(`${lines.join('\n')}\n`)
}

/** One line per tick or run, newest first. */
export function runTable(list: CronRunList): string {
  const rows = list.runs.map((run) => [
    run.scheduled_at,
    run.result,
    run.job_id === null ? '-' : String(run.job_id),
    remarkOf(run),
  ])
  return printable(`${columns([['SCHEDULED', 'RESULT', 'JOB', ''], ...rows])}\n${moreLine(list.next_cursor)}`)
}

export function previewText(preview: CronPreview): string {
  return printable([preview.description, ...preview.next_runs, ''].join('\n'))
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

function moreLine(cursor: string | null): string {
  return cursor === null ? '' : `next page: --cursor ${cursor}\n`
}
