import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import type { CronCreate } from '../../../../../clients/typescript/src/client.ts'
import { useChange } from '../../../editing/changes.ts'
import { api } from '../../../session/client.ts'
import { useMay } from '../../../session/me.ts'
import { at } from '../../../routing/paths.ts'
import { changedIn } from '../../../editing/drafts.ts'
import { zoneName } from '../../../preferences/time-zone.ts'
import { Dialog, DialogForm } from '../../../ui/overlays/dialog.tsx'
import { EditDialog } from '../../../editing/edit-dialog.tsx'
import { changesOf, type CronDraft, draftOf, NEW_CRON } from './cron-draft.ts'
import { CRON_TEXTS } from './cron-fields.ts'
import { CronForm } from './cron-form.tsx'

/** Makes a cron. */
export function NewCronDialog({ onClose }: { onClose(): void }) {
  const { route } = useLocation()
  const [draft, setDraft] = useState<CronDraft>(() => ({ ...NEW_CRON, time_zone: zoneName('local') }))
  const { edit, mistakes = {} } = changesOf(NEW_CRON, draft)
  const body = { ...edit, time_zone: draft.time_zone.trim() } as CronCreate
  const create = useChange((client) => client.createCron({ body }), {
    said: ({ name }) => `“${name}” created`,
    onDone: ({ id }) => route(at(`/crons/${id}`)),
    isFaultShown: true,
  })
  return (
    <Dialog title="New cron" size="large" onClose={onClose}>
      <DialogForm
        verb="Create the cron"
        isReady={Object.keys(mistakes).length === 0}
        isBusy={create.isPending}
        fault={create.error}
        onSave={() => create.mutate(undefined)}
        onClose={onClose}
      >
        <CronForm
          draft={draft}
          mistakes={mistakes}
          fault={create.error}
          isMasked={false}
          onChange={setDraft}
        />
      </DialogForm>
    </Dialog>
  )
}

export function EditCronDialog({
  id,
  name,
  onClose,
}: {
  readonly id: number
  readonly name: string
  onClose(): void
}) {
  const isMasked = !useMay('payloads')
  return (
    <EditDialog
      title={`Edit “${name}”`}
      kind="cron"
      id={id}
      draftOf={draftOf}
      changesOf={changesOf}
      onClose={onClose}
      read={(signal) => api.send('readCron', { cron_id: id }, { signal })}
      save={async (client, body, options) => {
        await client.editCron({ cron_id: id, body }, options)
        return `“${name}” changed`
      }}
      newsOf={(before, now) => {
        const draft = draftOf(now)
        return changedIn(draftOf(before), draft).map((field) => `${CRON_TEXTS[field].label}: ${draft[field]}`)
      }}
      form={(given) => <CronForm {...given} isMasked={isMasked} />}
    />
  )
}
