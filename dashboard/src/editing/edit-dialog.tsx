import { useQuery } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, type PunctualClient } from '../../../clients/typescript/src/client.ts'
import { useChange } from './changes.ts'
import { type Changes, rebased } from './drafts.ts'
import { plural } from '../format/numbers.ts'
import { Dialog, DialogForm } from '../ui/overlays/dialog.tsx'
import './edit-dialog.css'
import { Fault, Loading } from '../ui/page/empty.tsx'
import { Notice } from '../ui/text/notice.tsx'
import { showToast } from '../ui/overlays/toast.tsx'

export interface FormProps<Draft> {
  readonly draft: Draft
  onChange(draft: Draft): void
  readonly mistakes: Readonly<Partial<Record<string, string>>>
  /** What the server said. */
  readonly fault: unknown
}

export interface EditDialogProps<Thing, Draft extends object, Edit> {
  readonly title: string
  /** Such as `cron`. */
  readonly kind: string
  readonly id: number | string
  read(signal?: AbortSignal): Promise<{ readonly body: Thing; readonly headers: Headers }>
  draftOf(thing: Thing): Draft
  changesOf(before: Draft, draft: Draft): Changes<Edit>
  /** @returns what is said when it is done */
  save(
    client: PunctualClient,
    edit: Edit,
    options: { readonly headers: Readonly<Record<string, string>> },
  ): Promise<string>
  /** What somebody else has changed from one to the other, a line for each setting. */
  newsOf(before: Thing, now: Thing): readonly ComponentChildren[]
  form(given: FormProps<Draft>): ComponentChildren
  onClose(): void
}

/** Settings as they were read, with the version that an edit names so as not to undo what others have done since. */
interface Base<Thing> {
  readonly thing: Thing
  readonly version: string
}

/** Changes what was changed in a form, and only if nobody else has changed it since. */
export function EditDialog<Thing, Draft extends object, Edit>(props: EditDialogProps<Thing, Draft, Edit>) {
  const { title, kind, id, onClose } = props
  const { data, error, refetch } = useQuery({
    queryKey: ['to edit', kind, id],
    queryFn: ({ signal }) => readBase(props, signal),
    gcTime: 0,
    // What is typed stays on what it was typed on.
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Dialog title={title} size="large" onClose={onClose}>
      {data !== undefined ? (
        <EditForm {...props} first={data} />
      ) : error === null ? (
        <Loading what={`the ${kind}`} />
      ) : (
        <Fault fault={error} onRetry={() => void refetch()} />
      )}
    </Dialog>
  )
}

async function readBase<Thing>(
  { read }: Pick<EditDialogProps<Thing, never, never>, 'read'>,
  signal?: AbortSignal,
): Promise<Base<Thing>> {
  const { body, headers } = await read(signal)
  // A proxy that compresses makes the tag weak, and a weak one never matches.
  return { thing: body, version: (headers.get('etag') ?? '*').replace(/^W\//, '') }
}

function EditForm<Thing, Draft extends object, Edit>(
  props: EditDialogProps<Thing, Draft, Edit> & { readonly first: Base<Thing> },
) {
  const { kind, draftOf, changesOf, save, newsOf, form, onClose, first } = props
  const [base, setBase] = useState(first)
  const [draft, setDraft] = useState(() => draftOf(first.thing))
  const [news, setNews] = useState<readonly ComponentChildren[] | null>(null)
  const before = draftOf(base.thing)
  const { edit, count, mistakes = {} } = changesOf(before, draft)
  const change = useChange(
    (client) =>
      save(client, edit, { headers: { 'if-match': base.version } }).catch((fault: unknown) => {
        if (isConflict(fault)) return readBase(props)
        throw fault
      }),
    {
      onDone: (done) => {
        if (typeof done === 'string') {
          showToast({ tone: 'good', text: done })
          return onClose()
        }
        setNews(newsOf(base.thing, done.thing))
        setDraft(rebased(before, draft, draftOf(done.thing)))
        setBase(done)
      },
      isFaultShown: true,
    },
  )
  return (
    <DialogForm
      verb={count === 0 ? 'Nothing changed' : `Change ${plural(count, 'setting')}`}
      isReady={count > 0 && Object.keys(mistakes).length === 0}
      isBusy={change.isPending}
      fault={change.error}
      onSave={() => change.mutate(undefined)}
      onClose={onClose}
    >
      {news !== null && <News key={base.version} kind={kind} news={news} />}
      {form({ draft, mistakes, fault: change.error, onChange: setDraft })}
    </DialogForm>
  )
}

function News({ kind, news }: { readonly kind: string; readonly news: readonly ComponentChildren[] }) {
  const element = useRef<HTMLDivElement>(null)
  // The button that was pressed may be far below.
  useEffect(() => element.current?.scrollIntoView({ block: 'end' }), [])
  return (
    <div ref={element} role="alert">
      <Notice icon="warning" tone="warn">
        Nothing is saved yet: somebody has changed the {kind} since you opened it. Settings that you have not
        touched now show the new values. Check them, and save again.
        {news.map((line, at) => (
          <span key={at} class="news">
            {line}
          </span>
        ))}
      </Notice>
    </div>
  )
}

/** Somebody else was first; other refusals, such as those of the Kubernetes API, name no version. */
function isConflict(fault: unknown): boolean {
  return fault instanceof ApiError && fault.status === 409 && fault.text.includes('"version"')
}
