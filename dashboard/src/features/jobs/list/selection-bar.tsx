import { useState } from 'preact/hooks'
import type { BulkAction, JobSummary } from '../../../../../clients/typescript/src/client.ts'
import { useMay } from '../../../session/me.ts'
import { ACTIONS, type BulkTarget } from '../bulk/bulk-actions.ts'
import type { FilterValues } from '../job-filter.ts'
import { plural } from '../../../format/numbers.ts'
import { Button, TextButton } from '../../../ui/button.tsx'
import { ActionBar } from '../../../ui/tables/action-bar.tsx'
import { BulkDialog } from '../bulk/bulk-dialog.tsx'
import { actionsOfStatus, possibleActions } from './possible-actions.ts'

const NEEDS_PURGE: ReadonlySet<BulkAction> = new Set(['purge', 'delete'])
/** Jobs that one request may name. */
const IDS_MAX = 1_000

interface Offer {
  readonly action: BulkAction
  readonly label: string
  readonly target: BulkTarget
}

/** What can be done to the chosen jobs, or to all that the filters find. */
export function SelectionBar({
  jobs,
  values,
  isAll,
  onAll,
  onClear,
}: {
  readonly jobs: readonly JobSummary[]
  readonly values: FilterValues
  /** All that match are meant, shown or not. */
  readonly isAll: boolean
  /** Absent = all that match are chosen already. */
  readonly onAll: (() => void) | undefined
  onClear(): void
}) {
  const [asked, setAsked] = useState<Offer | null>(null)
  const mayPurge = useMay('purge')
  const offers = isAll ? offersOfFilter(values) : offersOfJobs(jobs)
  return (
    <ActionBar
      text={isAll ? 'All jobs that match' : `${plural(jobs.length, 'job')} chosen`}
      onClear={onClear}
      more={onAll !== undefined && <TextButton onClick={onAll}>Choose all that match</TextButton>}
    >
      {offers.map((offer) => (
        <Button
          key={offer.action}
          icon={ACTIONS[offer.action].icon}
          disabled={NEEDS_PURGE.has(offer.action) && !mayPurge && 'Your role may not remove jobs for good.'}
          onClick={() => setAsked(offer)}
        >
          {offer.label}
        </Button>
      ))}
      {offers.length === 0 && <span class="soft">Nothing can be done to jobs in flight.</span>}
      {asked !== null && (
        <BulkDialog
          action={asked.action}
          target={asked.target}
          onBegun={onClear}
          onClose={() => setAsked(null)}
        />
      )}
    </ActionBar>
  )
}

function offersOfJobs(jobs: readonly JobSummary[]): Offer[] {
  return possibleActions(jobs, Date.now()).map(({ action, ids }) => ({
    action,
    label: `${ACTIONS[action].verb} ${plural(ids.length, 'job')}`,
    target: { kind: 'ids', ids: ids.slice(0, IDS_MAX) },
  }))
}

function offersOfFilter(values: FilterValues): Offer[] {
  return actionsOfStatus(values['status']).map((action) => ({
    action,
    label: `${ACTIONS[action].verb} those that match …`,
    target: { kind: 'filter', values },
  }))
}
