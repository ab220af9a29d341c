import { useState } from 'preact/hooks'
import type { MaintenanceWindow } from '../../../../clients/typescript/src/client.ts'
import { useChange } from '../../editing/changes.ts'
import { api } from '../../session/client.ts'
import { changedIn } from '../../editing/drafts.ts'
import { Dialog, DialogForm } from '../../ui/overlays/dialog.tsx'
import { EditDialog } from '../../editing/edit-dialog.tsx'
import { useZone } from '../../ui/text/time.tsx'
import { creationOf, draftOf, editOf, newDraft, type WindowDraft } from './window-draft.ts'
import { WindowForm } from './window-form.tsx'

/** Makes a window. @param given what the address says of it */
export function NewWindow({ given, onClose }: { readonly given: Partial<WindowDraft>; onClose(): void }) {
  const zone = useZone()
  const [draft, setDraft] = useState<WindowDraft>(() => ({ ...newDraft(Date.now(), zone), ...given }))
  const create = useChange((client) => client.createWindow({ body: creationOf(draft) }), {
    said: ({ name }) => `Window ${name} created`,
    onDone: onClose,
    isFaultShown: true,
  })
  return (
    <Dialog title="New maintenance window" size="large" onClose={onClose}>
      <DialogForm
        verb="Create the window"
        isBusy={create.isPending}
        fault={create.error}
        onSave={() => create.mutate(undefined)}
        onClose={onClose}
      >
        <WindowForm isNew draft={draft} fault={create.error} onChange={setDraft} />
      </DialogForm>
    </Dialog>
  )
}

export function EditWindow({ id, onClose }: { readonly id: string; onClose(): void }) {
  const zone = useZone()
  // What the other kind of window begins with when it is chosen.
  const [fresh] = useState(() => newDraft(Date.now(), zone))
  const draftOfWindow = (window: MaintenanceWindow): WindowDraft => draftOf(window, fresh)
  return (
    <EditDialog
      title={`Window ${id}`}
      kind="window"
      id={id}
      onClose={onClose}
      draftOf={draftOfWindow}
      changesOf={(before, draft) => ({
        edit: editOf(before, draft),
        count: changedIn(before, draft).length,
      })}
      read={(signal) => api.send('readWindow', { window_id: id }, { signal })}
      save={async (client, body, options) => {
        await client.editWindow({ window_id: id, body }, options)
        return `Window ${id} changed`
      }}
      newsOf={() => []}
      form={(given) => <WindowForm {...given} isNew={false} />}
    />
  )
}
