import type { Bulk } from '../../../../../clients/typescript/src/client.ts'
import { formatCount } from '../../../format/numbers.ts'
import { Badge } from '../../../ui/text/badge.tsx'
import { labelOf, type TonedLabel } from '../../../ui/tone.ts'

const STATES: Readonly<Record<Bulk['state'], TonedLabel>> = {
  starting: { tone: 'plain', label: 'Starting' },
  running: { tone: 'busy', label: 'Running' },
  aborting: { tone: 'warn', label: 'Aborting' },
  aborted: { tone: 'warn', label: 'Aborted' },
  stopped: { tone: 'bad', label: 'Stopped' },
  done: { tone: 'good', label: 'Done' },
}

export function BulkBadge({ bulk }: { readonly bulk: Bulk }) {
  const { tone, label } = labelOf(STATES, bulk.state)
  const hasFailed = bulk.state === 'done' && bulk.failed > 0
  if (hasFailed) return <Badge tone="warn">Done, not all</Badge>
  const again = bulk.outcome?.failed_again ?? 0
  if (bulk.state === 'done' && again > 0)
    return <Badge tone="warn">Done, {formatCount(again)} failed again</Badge>
  return <Badge tone={tone}>{label}</Badge>
}

export function isOver({ state }: Bulk): boolean {
  return state === 'done' || state === 'aborted' || state === 'stopped'
}
