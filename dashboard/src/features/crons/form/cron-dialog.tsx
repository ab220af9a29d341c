import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import { ApiError, type CronCreate } from '../../../../../clients/typescript/src/client.ts'
import { useChange } from '../../../api/changes.ts'
import { api } from '../../../api/client.ts'
import { useMay } from '../../../api/me.ts'
import { at } from '../../../app/paths.ts'
import { plural } from '../../../format/numbers.ts'
import { zoneName } from '../../../preferences/time-zone.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { Fault, Loading } from '../../../ui/empty.tsx'
import { showToast } from '../../../ui/toast.tsx'
import { changedFields, changesOf, type CronDraft, draftOf, NEW_CRON, rebased } from './cron-draft.ts'
import { CRON_TEXTS } from './cron-fields.ts'
import { CronEditor } from './cron-editor.tsx'
import { useQuery } from '../../../api/observe.ts'

/** Makes a cron. */
export function NewCronDialog({ onClose }: { onClose(): void }) {
  const { route } = useLocation()
  const [draft, setDraft] = useState<CronDraft>(() => ({ ...NEW_CRON, time_zone: zoneName('local') }))
  const { changes, mistakes } = changesOf(NEW_CRON, draft)
  const body = { ...changes, time_zone: draft.time_zone.trim() } as CronCreate
  const create = useChange((client) => client.createCron({ body }), {
    said: ({ name }) => `“${name}” created`,
    onDone: ({ id }) => route(at(`/crons/${id}`)),
    isFaultShown: true,
  })
  return (
    <Dialog title="New cron" size="large" onClose={onClose}>
      <CronEditor
        {...{ draft, mistakes, onClose }}
        verb="Create 1 cron"
        isBusy={create.isPending}
        fault={create.error}
        isMasked={false}
        onChange={setDraft}
        onSave={() => create.mutate(undefined)}
      />
    </Dialog>
  )
}

/** Settings as they were read, with their version. */
interface Base {
  readonly draft: CronDraft
  readonly version: string
}

async function readBase(id: number, signal?: AbortSignal): Promise<Base> {
  const { body, headers } = await api.send('readCron', { cron_id: id }, { signal })
  // A proxy that compresses makes the tag weak, and a weak one never matches.
  return { draft: draftOf(body), version: (headers.get('etag') ?? '*').replace(/^W\//, '') }
}

interface EditProps {
  readonly id: number
  readonly name: string
  onClose(): void
}

export function EditCronDialog(props: EditProps) {
  const { id, name, onClose } = props
  const read = useQuery({
    queryKey: ['settings to edit', id],
    queryFn: ({ signal }) => readBase(id, signal),
    gcTime: 0,
    // What is typed stays on what it was typed on.
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Dialog title={`Edit “${name}”`} size="large" onClose={onClose}>
      {read.isPending && <Loading what="its settings" />}
      {read.isError && <Fault fault={read.error} onRetry={() => void read.refetch()} />}
      {read.data !== undefined && <EditForm {...props} initial={read.data} />}
    </Dialog>
  )
}

/** Changes what was changed in the form, and only if nobody else has changed the cron since. */
function EditForm({ id, name, onClose, initial }: EditProps & { readonly initial: Base }) {
  const isMasked = !useMay('payloads')
  const [base, setBase] = useState(initial)
  const [draft, setDraft] = useState(initial.draft)
  const [news, setNews] = useState<readonly string[]>([])
  const { changes, mistakes } = changesOf(base.draft, draft)
  const edit = useChange(
    async (client): Promise<Base | null> => {
      try {
        await client.editCron({ cron_id: id, body: changes }, { headers: { 'if-match': base.version } })
        return null
      } catch (fault) {
        if (isConflict(fault)) return readBase(id)
        throw fault
      }
    },
    {
      onDone: (newer) => {
        if (newer === null) {
          showToast({ tone: 'good', text: `“${name}” changed` })
          return onClose()
        }
        setNews(
          changedFields(base.draft, newer.draft).map(
            (field) => `${CRON_TEXTS[field].label}: ${newer.draft[field]}`,
          ),
        )
        setDraft(rebased(base.draft, draft, newer.draft))
        setBase(newer)
      },
      isFaultShown: true,
    },
  )
  const count = Object.keys(changes).length
  return (
    <CronEditor
      {...{ draft, mistakes, news, isMasked, onClose }}
      verb={count === 0 ? 'No setting changed' : `Change ${plural(count, 'setting')}`}
      isReady={count > 0}
      isBusy={edit.isPending}
      fault={edit.error}
      onChange={setDraft}
      onSave={() => edit.mutate(undefined)}
    />
  )
}

/** Somebody else was first; other refusals have no version. */
function isConflict(fault: unknown): boolean {
  return fault instanceof ApiError && fault.status === 409 && fault.text.includes('"version"')
}
