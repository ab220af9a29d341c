import type { Inputs } from '../../../../clients/typescript/src/client.ts'
import type { Chip } from '../../ui/chips.tsx'

type Given = Omit<Inputs['listJobs'], 'limit' | 'cursor'>
export type FilterName = keyof Given

/** In the order in which they are shown. */
const LABELS: Readonly<Record<FilterName, string>> = {
  status: 'Status',
  final_status: 'Final status',
  queue: 'Queue',
  failure_reason: 'Failed for',
  response_status: 'Answered with',
  host: 'Host',
  tag: 'Tag',
  cron_id: 'Cron',
  text: 'Text',
  created_after: 'Created after',
  created_before: 'Created before',
  scheduled_after: 'Due after',
  scheduled_before: 'Due before',
  ended_after: 'Ended after',
  ended_before: 'Ended before',
}
const NAMES = Object.keys(LABELS) as FilterName[]

/** The filter that an address asks for; what is no filter is left out. The server judges the values. */
export function filterOf(values: Readonly<Record<string, string>>): Given {
  const given = NAMES.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]] as const]))
  return Object.fromEntries(given) as Given
}

export function chipsOf(values: Readonly<Record<string, string>>): Chip[] {
  return NAMES.flatMap((name) => {
    const value = values[name]
    return value === undefined ? [] : [{ name, label: LABELS[name], value: value.replaceAll('_', ' ') }]
  })
}
