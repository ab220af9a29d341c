import type { Team } from '../../../../../clients/typescript/src/client.ts'
import { formatBytes, formatCount, formatShare } from '../../../format/numbers.ts'
import { Panel } from '../../../ui/page/page.tsx'
import { Table } from '../../../ui/tables/table.tsx'

type QuotaName = keyof Team['quotas']

const NAMES: ReadonlyArray<readonly [name: QuotaName, label: string]> = [
  ['queues', 'Queues'],
  ['crons', 'Crons'],
  ['pending_jobs', 'Jobs not ended'],
  ['stored_bytes', 'Stored'],
  ['jobs_per_month', 'Jobs this month'],
  ['calls_in_flight', 'Calls in flight'],
]

interface Row {
  readonly name: QuotaName
  readonly label: string
  readonly used: number
  readonly limit: number | null
}

/** What the team uses of what it may. */
export function Quotas({ quotas, usage }: Pick<Team, 'quotas' | 'usage'>) {
  const rows = NAMES.map(([name, label]): Row => ({ name, label, used: usage[name], limit: quotas[name] }))
  return (
    <Panel isFlush title="Quotas of the team">
      <Table
        caption="Quotas"
        rows={rows}
        keyOf={({ name }) => name}
        columns={[
          { head: 'Quota', cell: ({ label }) => label },
          { head: 'Used', align: 'end', cell: ({ name, used }) => amount(name, used) },
          {
            head: 'Limit',
            align: 'end',
            cell: ({ name, limit }) => (limit === null ? 'None' : amount(name, limit)),
          },
          {
            head: 'Part',
            align: 'end',
            isExtra: true,
            cell: ({ used, limit }) => (limit === null ? '' : (formatShare(used, limit) ?? '')),
          },
        ]}
      />
    </Panel>
  )
}

function amount(name: QuotaName, value: number): string {
  return name === 'stored_bytes' ? formatBytes(value) : formatCount(value)
}
