import type { Bulk } from '../../../../../../clients/typescript/src/client.ts'
import { at } from '../../../../routing/paths.ts'
import type { FilterValues } from '../../job-filter.ts'
import { formatCount } from '../../../../format/numbers.ts'
import { Panel } from '../../../../ui/page/page.tsx'
import type { Tone } from '../../../../ui/tone.ts'
import './outcome.css'
import './progress.css'

interface Count {
  readonly label: string
  readonly tone: Tone
  readonly count: number
  /** The jobs of this count; null = there is no list of them. */
  readonly href: string | null
}

/** What became of the jobs that a bulk made, as one bar; nothing where it made none. */
export function Outcome({ bulk }: { readonly bulk: Bulk }) {
  const counts = countsOf(bulk)
  const whole = counts.reduce((sum, { count }) => sum + count, 0)
  if (whole === 0) return null
  const text = counts.map(({ label, count }) => `${label} ${formatCount(count)}`).join(' · ')
  return (
    <Panel title="What became of the new jobs">
      <div class="outcome">
        <div class="progress-bar" role="img" aria-label={text}>
          {counts.map(({ label, tone, count }) => (
            <i key={label} data-tone={tone} style={{ width: `${(count / whole) * 100}%` }} />
          ))}
        </div>
        <ul class="outcome-counts">
          {counts.map(({ label, tone, count, href }) => (
            <li key={label} data-tone={tone}>
              {href === null || count === 0 ? label : <a href={href}>{label}</a>}{' '}
              <strong class="number">{formatCount(count)}</strong>
            </li>
          ))}
        </ul>
      </div>
    </Panel>
  )
}

function countsOf({ id, action, outcome }: Bulk): readonly Count[] {
  if (outcome === null) return []
  const listed = (values: FilterValues) => at('/jobs', { bulk_id: String(id), ...values })
  // What is retried may come from a queue without dead letters.
  const again = action === 'replay' ? { final_status: 'dead_lettered' } : {}
  const removed: Count = { label: 'Removed', tone: 'plain', count: outcome.removed, href: null }
  return [
    {
      label: 'Succeeded',
      tone: 'good',
      count: outcome.succeeded,
      href: listed({ final_status: 'success' }),
    },
    { label: 'Waiting', tone: 'busy', count: outcome.waiting, href: listed({}) },
    { label: 'Failed again', tone: 'bad', count: outcome.failed_again, href: listed(again) },
    ...(outcome.removed === 0 ? [] : [removed]),
  ]
}
