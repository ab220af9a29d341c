import type { ExecutorsStatus } from '../../../../../clients/typescript/src/client.ts'
import { formatCount, plural } from '../../../format/numbers.ts'
import { formatDuration } from '../../../format/times.ts'
import { Empty } from '../../../ui/page/empty.tsx'
import { Panel } from '../../../ui/page/page.tsx'
import { Table } from '../../../ui/tables/table.tsx'

/** Who makes the calls, and how much room each one has. */
export function Executors({
  executors: { alive, slots, expired_leases: expired, executors },
}: {
  readonly executors: ExecutorsStatus
}) {
  const room = slots === null ? '' : `, ${plural(slots, 'slot')}`
  const ended = expired === 0 ? '' : `, ${plural(expired, 'lease')} ended`
  return (
    <Panel isFlush title={`Executors: ${formatCount(alive)} alive${room}${ended}`}>
      {executors.length === 0 ? (
        <Empty icon="warning" title="No executor is alive">
          <p>Jobs wait until one starts. Scaling up from zero takes up to a minute.</p>
        </Empty>
      ) : (
        <Table
          caption="Executors"
          rows={executors}
          keyOf={({ name }) => name}
          columns={[
            { head: 'Name', isWide: true, cell: ({ name }) => name },
            { head: 'Calls', align: 'end', cell: ({ in_flight: calls }) => countOr(calls) },
            { head: 'Slots', align: 'end', cell: (one) => countOr(one.slots) },
            { head: 'Shards', align: 'end', isExtra: true, cell: ({ shards }) => formatCount(shards) },
            {
              head: 'Lease',
              align: 'end',
              isExtra: true,
              cell: ({ lease_ends_in_ms: endsInMs }) => formatDuration(endsInMs),
            },
          ]}
        />
      )}
    </Panel>
  )
}

function countOr(count: number | null): string {
  return count === null ? '–' : formatCount(count)
}
