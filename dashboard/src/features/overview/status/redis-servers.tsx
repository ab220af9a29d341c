import type { RedisServer } from '../../../../../clients/typescript/src/client.ts'
import { formatBytes, formatShare } from '../../../format/numbers.ts'
import { Panel } from '../../../ui/page/page.tsx'
import { Table } from '../../../ui/tables/table.tsx'
import { Badge } from '../../../ui/text/badge.tsx'
import { Time } from '../../../ui/text/time.tsx'

/** Each primary of Redis, with its memory and what it keeps on disk. */
export function RedisServers({ servers }: { readonly servers: readonly RedisServer[] }) {
  return (
    <Panel isFlush title="Redis">
      <Table
        caption="Redis servers"
        rows={servers}
        keyOf={({ name }) => name}
        columns={[
          { head: 'Server', isWide: true, cell: ({ name }) => name },
          { head: 'State', cell: (server) => <State server={server} /> },
          { head: 'Version', isExtra: true, cell: ({ version }) => version ?? '–' },
          { head: 'Memory', align: 'end', cell: memoryText },
          { head: 'Append-only file', isExtra: true, cell: appendOnlyText },
          {
            head: 'Snapshot',
            isExtra: true,
            cell: ({ saved_at: savedAt }) => (savedAt === null ? '–' : <Time at={savedAt} />),
          },
          { head: 'Replicas', isExtra: true, cell: replicasText },
        ]}
      />
    </Panel>
  )
}

function State({ server: { answers, risks } }: { readonly server: RedisServer }) {
  if (!answers) return <Badge tone="bad">Away</Badge>
  return risks.length > 0 ? <Badge tone="bad">Jobs at risk</Badge> : <Badge tone="good">Safe</Badge>
}

function memoryText({ used_bytes: used, max_bytes: limit }: RedisServer): string {
  if (used === null) return '–'
  if (limit === null) return `${formatBytes(used)}, no limit`
  return `${formatBytes(used)} of ${formatBytes(limit)}, ${formatShare(used, limit) ?? ''}`
}

function appendOnlyText({ append_only: isOn, append_only_written: isWritten }: RedisServer): string {
  if (isOn === null) return '–'
  if (!isOn) return 'Off'
  return isWritten === false ? 'Cannot be written' : 'Written'
}

function replicasText({ replicas, answers }: RedisServer): string {
  if (!answers) return '–'
  if (replicas.length === 0) return 'None'
  return replicas
    .map(({ is_online: isOnline, lag_seconds: lag }) => {
      return isOnline ? `${lag ?? '?'} s behind` : 'not in step'
    })
    .join(', ')
}
