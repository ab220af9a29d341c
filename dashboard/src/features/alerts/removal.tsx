import { Confirm } from '../../ui/overlays/dialog.tsx'
import { type Meant, useDelete } from './alert-changes.ts'
import { alerts } from './alert-text.ts'

/** Asks before alerts are deleted. */
export function Removal({
  meant,
  count,
  onDone,
  onClose,
}: {
  readonly meant: Meant
  /** null = all that match, more than are shown. */
  readonly count: number | null
  onDone(): void
  onClose(): void
}) {
  const remove = useDelete(() => {
    onClose()
    onDone()
  })
  const what = count === null ? 'all alerts that match' : alerts(count)
  return (
    <Confirm
      title={`Delete ${what}?`}
      verb={`Delete ${what}`}
      isBusy={remove.isPending}
      fault={remove.error}
      onConfirm={() => remove.mutate(meant)}
      onClose={onClose}
    >
      <p>
        {count === null && 'They are more than the page shows; those raised from now on stay. '}
        Deleted alerts cannot be brought back, and channels are not told of them any more. The jobs behind
        them stay.
      </p>
    </Confirm>
  )
}
