import { useEffect, useState } from 'preact/hooks'
import { JsonText } from '../../../../../clients/typescript/src/client.ts'
import { useChange } from '../../../editing/changes.ts'
import { BASE } from '../../../session/client.ts'
import { useMay } from '../../../session/me.ts'
import { ECHO_AT } from '../../../session/page.ts'
import { useUrlQuery } from '../../../routing/url-query.ts'
import { at } from '../../../routing/paths.ts'
import { pushCommandOf } from '../../../format/curl.ts'
import { Button, TextButton } from '../../../ui/button.tsx'
import { FormFault } from '../../../ui/overlays/dialog.tsx'
import { Code } from '../../../ui/text/code.tsx'
import { Empty, Fault } from '../../../ui/page/empty.tsx'
import { Page, Panel } from '../../../ui/page/page.tsx'
import { showToast } from '../../../ui/overlays/toast.tsx'
import { draftOfJob } from './draft-reading.ts'
import { bodyOf, EMPTY_DRAFT, type Fields, fieldsOf, type JobDraft } from './job-draft.ts'
import { JobEditor } from './job-editor.tsx'
import './send.css'
import { useJobText } from '../job-text.ts'

/** Pushes a job by hand, and shows the command that does the same. */
export function SendJob() {
  const mayPush = useMay('push')
  const { values, set } = useUrlQuery()
  const from = useJobText(values['from'] ?? null)
  const [draft, setDraft] = useState<JobDraft>(() => ({ ...EMPTY_DRAFT, queue: values['queue'] ?? '' }))
  // The editor starts anew with what it is filled with.
  const [filled, setFilled] = useState(0)
  const filledWith = from.data?.job.job_id
  useEffect(() => {
    if (from.data === undefined) return
    setDraft(draftToSend(draftOfJob(from.data.job, from.data.text)))
    setFilled((count) => count + 1)
    // Once for a job: what was typed since stays.
  }, [filledWith])
  return (
    <Page title="Send a job">
      {mayPush ? (
        <>
          {from.isError && <Fault fault={from.error} onRetry={() => void from.refetch()} />}
          <div class="send">
            <Editor key={filled} draft={draft} setDraft={setDraft} onFill={(id) => set({ from: id })} />
            <Equal fields={fieldsOf(draft).fields} />
          </div>
        </>
      ) : (
        <Panel>
          <Empty icon="key" title="You may not send jobs">
            <p>It needs the permission to push, which your login does not have.</p>
            <a href={at('/jobs')}>All jobs</a>
          </Empty>
        </Panel>
      )}
    </Page>
  )
}

/** A job of its own has no former one whose retries it could keep. */
function draftToSend(draft: JobDraft): JobDraft {
  return draft.retries === 'kept' ? { ...draft, retries: 'queue' } : draft
}

interface EditorProps {
  readonly draft: JobDraft
  setDraft(draft: JobDraft): void
}

function Editor({ draft, setDraft, onFill }: EditorProps & { onFill(jobId: string): void }) {
  const [isBroken, setIsBroken] = useState(false)
  const { fields, mistakes } = fieldsOf(draft)
  const isSound = !isBroken && Object.keys(mistakes).length === 0
  const send = useChange((api) => api.pushJob({ body: new JsonText(bodyOf(fields)) }), {
    onDone: ({ job_id: id }) =>
      showToast({
        tone: 'good',
        text: `Sent as job ${id}`,
        action: { label: 'Show it', href: at(`/jobs/${id}`) },
      }),
    isFaultShown: true,
  })
  return (
    <Panel title="The job" actions={<FillFrom onFill={onFill} />}>
      <form
        class="form"
        aria-label="A job"
        onSubmit={(event) => {
          event.preventDefault()
          if (isSound) send.mutate(undefined)
        }}
      >
        <JobEditor
          draft={draft}
          mistakes={mistakes}
          kind="push"
          fault={send.error}
          onChange={setDraft}
          onBroken={setIsBroken}
          urlHint={<EchoOffer draft={draft} setDraft={setDraft} />}
        />
        <FormFault fault={send.error} />
        <footer class="send-foot">
          {send.data !== undefined && (
            <a href={at(`/jobs/${send.data.job_id}`)}>Show job {send.data.job_id}</a>
          )}
          <Button type="submit" look="main" icon="send" isBusy={send.isPending} disabled={!isSound}>
            Send 1 job
          </Button>
        </footer>
      </form>
    </Panel>
  )
}

function FillFrom({ onFill }: { onFill(jobId: string): void }) {
  const [id, setId] = useState('')
  return (
    <form
      class="bar"
      onSubmit={(event) => {
        event.preventDefault()
        onFill(id.trim())
      }}
    >
      <input
        class="send-from"
        aria-label="Fill from the job with this id"
        placeholder="Id of a job"
        value={id}
        onInput={(event) => setId(event.currentTarget.value)}
      />
      <Button type="submit" disabled={id.trim() === '' && 'Type the id of a job first'}>
        Fill from it
      </Button>
    </form>
  )
}

/** A standalone has a target for trying out. */
function EchoOffer({ draft, setDraft }: EditorProps) {
  if (ECHO_AT === null) return <>http or https, at most 2,048 characters.</>
  const offer = (label: string, url: string) => (
    <TextButton onClick={() => setDraft({ ...draft, url })}>{label}</TextButton>
  )
  return (
    <>
      To try it out: {offer('a target that answers', ECHO_AT)}, or{' '}
      {offer('one that fails twice first', `${ECHO_AT}?fail=2&status=503`)}.
    </>
  )
}

function Equal({ fields }: { readonly fields: Fields }) {
  return (
    <div class="send-side stack">
      <Code label="The same with curl" text={pushCommandOf(BASE, bodyOf(fields))} />
      <p class="soft">
        PUNCTUAL_TOKEN is a token of the team with the scope push. Nothing on this page is stored in the
        browser.
      </p>
    </div>
  )
}
