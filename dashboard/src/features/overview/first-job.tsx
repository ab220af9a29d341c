import { useState } from 'preact/hooks'
import type { JobSummary, PunctualClient } from '../../../../clients/typescript/src/client.ts'
import { useChange } from '../../editing/changes.ts'
import { BASE } from '../../session/client.ts'
import { useMay } from '../../session/me.ts'
import { ECHO_AT } from '../../session/page.ts'
import { useRead } from '../../api/reads.ts'
import { at } from '../../routing/paths.ts'
import { pushCommandOf } from '../../format/curl.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Code } from '../../ui/text/code.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Panel } from '../../ui/page/page.tsx'
import './first-job.css'

export interface FirstJobs {
  /** Nothing has ever been pushed, as far as is known. */
  readonly isAwaited: boolean
  /** The first job, if it came while this page was open. */
  readonly landed: JobSummary | null
}

/** Whether a team is new, and when it no longer is. */
export function useFirstJob(): FirstJobs {
  const jobs = useRead('listJobs', { limit: 1 })
  const team = useRead('readTeam', {})
  const [first] = jobs.data?.jobs ?? []
  const isNew =
    jobs.data?.next_cursor === null && first === undefined && team.data?.usage.jobs_per_month === 0
  const [wasNew, setWasNew] = useState(false)
  if (isNew && !wasNew) setWasNew(true)
  return { isAwaited: isNew || (wasNew && first === undefined), landed: wasNew ? (first ?? null) : null }
}

const EXAMPLE = ECHO_AT ?? 'https://api.example.com/hooks'
const BODY = `{
  "queue": "emails",
  "url": "${EXAMPLE}",
  "payload": {"to": "ada"}
}`

/** The way to a first job; whoever keeps the page open sees it land. */
export function FirstJob() {
  const mayPush = useMay('push')
  return (
    <Panel title="Your first job">
      <ol class="first">
        <li>
          <h3>Set a token</h3>
          <TokenStep />
        </li>
        <li>
          <h3>Push a job</h3>
          <p>
            A job is one HTTP request: Punctual sends it, tries it again if it fails, and shows what happened.{' '}
            {ECHO_AT === null
              ? 'Put a URL of yours in place of the example.'
              : 'The target of this one answers with what it got.'}
          </p>
          <Code label="The push, in a terminal" text={pushCommandOf(BASE, BODY)} />
          {mayPush && (
            <div class="row">
              <LinkButton icon="send" href={at('/send')}>
                Or send it from here
              </LinkButton>
            </div>
          )}
        </li>
        <li>
          <h3>See it land</h3>
          <p class="first-wait" role="status">
            <i /> Waiting for the first job. This page turns green by itself.
          </p>
        </li>
      </ol>
    </Panel>
  )
}

function createToken(api: PunctualClient) {
  const name = `first-job-${Date.now().toString(36)}`
  return api.createToken({ body: { name, description: 'Made on the overview', scopes: ['push'] } })
}

/** An admin can make a token here. It can only push, is shown once and kept nowhere. */
function TokenStep() {
  const mayMake = useMay('admin')
  const make = useChange(createToken, { said: ({ name }) => `Token ${name} made` })
  const token = make.data?.token
  if (token !== undefined) {
    return (
      <>
        <p>It is shown only now, and can push jobs and nothing else.</p>
        <Code label="The token, in a terminal" text={`export PUNCTUAL_TOKEN='${token}'`} />
      </>
    )
  }
  return (
    <>
      <p>
        {mayMake
          ? 'A token that can push is enough.'
          : 'It needs the scope push. Somebody who is admin of the team can make one.'}
      </p>
      {mayMake ? (
        <div class="row">
          <Button icon="key" isBusy={make.isPending} onClick={() => make.mutate(undefined)}>
            Make a token
          </Button>
        </div>
      ) : (
        <Code label="The token, in a terminal" text="export PUNCTUAL_TOKEN=…" />
      )}
    </>
  )
}

export function FirstJobLanded({ job }: { readonly job: JobSummary }) {
  return (
    <p class="first-landed" role="status">
      <Icon name="check" />
      <span>
        The first job has landed: <a href={at(`/jobs/${job.job_id}`)}>show job {job.job_id}</a>
      </span>
    </p>
  )
}
