import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import type { QueueCreate } from '../../../../../clients/typescript/src/client.ts'
import { useChange } from '../../../editing/changes.ts'
import { useMay } from '../../../session/me.ts'
import { at } from '../../../routing/paths.ts'
import { mistakesOf, TextField } from '../../../ui/forms/field.tsx'
import { Dialog, DialogForm } from '../../../ui/overlays/dialog.tsx'
import { QueueList } from '../queue-list.tsx'
import { changesOf, NEW_SETTINGS } from '../settings/settings.ts'
import { SettingsFields } from '../settings/settings-form.tsx'

/** The list with the form over it, a screen of its own: the form comes when it is asked for. */
export function NewQueue() {
  const { route } = useLocation()
  const mayEdit = useMay('edit')
  return (
    <>
      <QueueList />
      {mayEdit && <NewQueueDialog onClose={() => route(at('/queues'), true)} />}
    </>
  )
}

/** Makes a queue before its first job. */
function NewQueueDialog({ onClose }: { onClose(): void }) {
  const { route } = useLocation()
  const [name, setName] = useState('')
  const [draft, setDraft] = useState(NEW_SETTINGS)
  const body: QueueCreate = { ...changesOf(NEW_SETTINGS, draft).edit, name: name.trim() }
  const create = useChange((client) => client.createQueue({ body }), {
    said: (queue) => [`Queue “${queue.name}” created.`, ...queue.warnings].join(' '),
    onDone: ({ queue_id: id }) => route(at(`/queues/${id}`)),
    isFaultShown: true,
  })
  return (
    <Dialog title="New queue" size="large" onClose={onClose}>
      <DialogForm
        verb="Create the queue"
        isReady={body.name !== ''}
        isBusy={create.isPending}
        fault={create.error}
        onSave={() => create.mutate(undefined)}
        onClose={onClose}
      >
        <TextField
          label="Name"
          hint="Jobs name it when they are pushed. It cannot be changed later."
          mistakes={mistakesOf(create.error, 'name')}
          value={name}
          onChange={setName}
        />
        <SettingsFields isNew draft={draft} mistakes={{}} fault={create.error} onChange={setDraft} />
      </DialogForm>
    </Dialog>
  )
}
