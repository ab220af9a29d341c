import { useState } from 'preact/hooks'
import { ApiError, type MaintenanceWindow } from '../../../../clients/typescript/src/client.ts'
import { useChange } from '../../api/changes.ts'
import { api } from '../../api/client.ts'
import { Dialog, DialogForm } from '../../ui/dialog.tsx'
import { Fault, Loading } from '../../ui/empty.tsx'
import { useZone } from '../../ui/time.tsx'
import { showToast } from '../../ui/toast.tsx'
import { creationOf, draftOf, editOf, newDraft, rebased, type WindowDraft } from './window-draft.ts'
import { WindowForm } from './window-form.tsx'
import { useQuery } from '../../api/observe.ts'

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
        verb="Create 1 window"
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

/** A window as it was read, with its version. */
interface Base {
  readonly window: MaintenanceWindow
  readonly version: string | null
}

async function readBase(id: string, signal?: AbortSignal): Promise<Base> {
  const { body, headers } = await api.send('readWindow', { window_id: id }, { signal })
  return { window: body, version: headers.get('etag') }
}

export function EditWindow({ id, onClose }: { readonly id: string; onClose(): void }) {
  const read = useQuery({
    queryKey: ['window to edit', id],
    queryFn: ({ signal }) => readBase(id, signal),
    gcTime: 0,
    // What is typed stays on what it was typed on.
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Dialog title={`Window ${id}`} size="large" onClose={onClose}>
      {read.isPending && <Loading what="the window" />}
      {read.isError && <Fault fault={read.error} onRetry={() => void read.refetch()} />}
      {read.data !== undefined && <EditForm first={read.data} onClose={onClose} />}
    </Dialog>
  )
}

/** Changes what was changed in the form, and only if nobody else has changed the window since. */
function EditForm({ first, onClose }: { readonly first: Base; onClose(): void }) {
  const zone = useZone()
  const [fresh] = useState(() => newDraft(Date.now(), zone))
  const [base, setBase] = useState(first)
  const [draft, setDraft] = useState(() => draftOf(first.window, fresh))
  const before = draftOf(base.window, fresh)
  const body = editOf(before, draft)
  const { id } = base.window
  const edit = useChange(
    async (client): Promise<Base | null> => {
      const headers = base.version === null ? {} : { 'if-match': base.version }
      try {
        await client.send('editWindow', { window_id: id, body }, { headers })
        return null
      } catch (fault) {
        if (isConflict(fault)) return readBase(id)
        throw fault
      }
    },
    {
      onDone: (newer) => {
        if (newer === null) {
          showToast({ tone: 'good', text: `Window ${id} changed` })
          return onClose()
        }
        setDraft(rebased(before, draft, draftOf(newer.window, fresh)))
        setBase(newer)
      },
      isFaultShown: true,
    },
  )
  return (
    <DialogForm
      verb="Change 1 window"
      isReady={Object.keys(body).length > 0}
      isBusy={edit.isPending}
      fault={edit.error}
      onSave={() => edit.mutate(undefined)}
      onClose={onClose}
    >
      <WindowForm isNew={false} draft={draft} fault={edit.error} onChange={setDraft} />
      {base !== first && (
        <p class="field-fault" role="alert">
          Somebody else has changed this window meanwhile. What you typed stands in the form, and the rest is
          as it is now. Look at it again, then save.
        </p>
      )}
    </DialogForm>
  )
}

/** Somebody else was first; other refusals have no version. */
function isConflict(fault: unknown): boolean {
  return fault instanceof ApiError && fault.status === 409 && fault.text.includes('"version"')
}
