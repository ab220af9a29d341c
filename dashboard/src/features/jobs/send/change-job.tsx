/** The dialog that makes a job of another one; opened on the page of a chain. */
import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import { JsonText, type ScheduledJob } from '../../../../../clients/typescript/src/client.ts'
import { useChange } from '../../../editing/changes.ts'
import { useMay } from '../../../session/me.ts'
import { at } from '../../../routing/paths.ts'
import { plural } from '../../../format/numbers.ts'
import { Dialog, DialogForm } from '../../../ui/overlays/dialog.tsx'
import { QueryStatus } from '../../../ui/page/empty.tsx'
import { draftOfJob } from './draft-reading.ts'
import { changeOf } from './job-change.ts'
import { bodyOf, fieldsOf, type JobDraft } from './job-draft.ts'
import { JobEditor } from './job-editor.tsx'
import './send.css'
import { useJobText } from '../job-text.ts'

const TEXTS = {
  replay: { title: 'Edit and replay', verb: 'Replay', done: 'Replayed' },
  duplicate: { title: 'Duplicate', verb: 'Duplicate', done: 'Duplicated' },
} as const

interface ChangeJobProps {
  readonly jobId: number
  /** A replay needs a dead letter, which leaves the dead-letter queue; a duplicate leaves the job as it is. */
  readonly kind: 'replay' | 'duplicate'
  onClose(): void
}

export function ChangeJob(props: ChangeJobProps) {
  const { jobId, kind, onClose } = props
  const read = useJobText(jobId)
  return (
    <Dialog title={`${TEXTS[kind].title}: job ${jobId}`} size="large" onClose={onClose}>
      <QueryStatus query={read} what="the job" />
      {read.data !== undefined && <ChangeForm {...props} initial={initialOf(kind, read.data)} />}
    </Dialog>
  )
}

function initialOf(kind: ChangeJobProps['kind'], read: Parameters<typeof toDraft>[0]): JobDraft {
  const draft = toDraft(read)
  return kind === 'replay' ? { ...draft, queue: '' } : draft
}

function toDraft({ job, text }: NonNullable<ReturnType<typeof useJobText>['data']>): JobDraft {
  return draftOfJob(job, text)
}

function ChangeForm({ jobId, kind, onClose, initial }: ChangeJobProps & { readonly initial: JobDraft }) {
  const { route } = useLocation()
  const isMasked = !useMay('payloads')
  const [before] = useState(initial)
  const [draft, setDraft] = useState(initial)
  const [isBroken, setIsBroken] = useState(false)
  const { fields, mistakes } = fieldsOf(draft)
  const changed = changeOf(fieldsOf(before).fields, fields)
  const { verb, done } = TEXTS[kind]
  const send = useChange(
    (api): Promise<ScheduledJob> => {
      const input = { job_id: jobId, body: new JsonText(bodyOf(changed)) }
      return kind === 'replay' ? api.replayJob(input) : api.duplicateJob(input)
    },
    {
      said: ({ job_id: id }) => `${done} as job ${id}`,
      onDone: ({ job_id: id }) => {
        onClose()
        route(at(`/jobs/${id}`))
      },
      isFaultShown: true,
    },
  )
  return (
    <DialogForm
      verb={changed.size === 0 ? `${verb} as it is` : `${verb} with changes`}
      isReady={!isBroken && Object.keys(mistakes).length === 0}
      isBusy={send.isPending}
      fault={send.error}
      note={
        <span class="soft send-count">
          {changed.size === 0 ? 'No field changed' : `${plural(changed.size, 'field')} changed`}
        </span>
      }
      onSave={() => send.mutate(undefined)}
      onClose={onClose}
    >
      <JobEditor
        draft={draft}
        kind={kind}
        mistakes={mistakes}
        isMasked={isMasked}
        fault={send.error}
        onChange={setDraft}
        onBroken={setIsBroken}
      />
    </DialogForm>
  )
}
