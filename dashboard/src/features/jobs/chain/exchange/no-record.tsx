import type { Job } from '../../../../../../clients/typescript/src/client.ts'
import { useJobText } from '../../job-text.ts'
import { MASK } from '../../../../format/curl.ts'
import { indentJson, memberOf } from '../../../../format/json-text.ts'
import { Code } from '../../../../ui/text/code.tsx'

/** In place of an exchange that is not there: what was pushed, as far as it is known. */
export function NoRecord({ job }: { readonly job: Job }) {
  const headers = Object.entries(job.headers ?? {}).map(([name, value]) => `${name}: ${value}`)
  const read = useJobText(job.job_id)
  const sent = read.data === undefined ? null : sentText(job, read.data.text)
  return (
    <>
      <p class="soft">{whyNone(job)}</p>
      {headers.length > 0 && <Code label="Headers as pushed" text={headers.join('\n')} />}
      {sent !== null && (
        <Code label={bodyLabel(job)} text={sent} file={`job-${job.job_id}-${fileEnd(job)}`} />
      )}
    </>
  )
}

function whyNone(job: Job): string {
  if (job.started_at === null) return 'It has not started yet.'
  if (job.completed_at === null) return 'It is in flight: its exchange is shown when it has ended.'
  const failure = job.error_message === null ? '' : `${job.error_message} `
  return `${failure}The exchange is not kept: records expire after three days, and when many jobs succeed in the same second, only the first are kept.`
}

function bodyLabel({ body_encoding: encoding }: Job): string {
  if (encoding === null) return 'Payload as pushed'
  return encoding === 'base64' ? 'Body as pushed, in base64' : 'Body as pushed'
}

function fileEnd({ body_encoding: encoding }: Job): string {
  if (encoding === null) return 'payload.json'
  return encoding === 'json' ? 'body.json' : encoding === 'text' ? 'body.txt' : 'body.base64'
}

/** @param text the job as it came, for the digits of its numbers */
function sentText({ payload, body, body_encoding: encoding }: Job, text: string): string | null {
  const [member, value] = encoding === null ? (['payload', payload] as const) : (['body', body] as const)
  if (value === null || value === undefined || value === MASK) return null
  // The body of a cron's run is any text, as is one that was pushed as such.
  const source = typeof value === 'string' && encoding !== 'json' ? value : (memberOf(text, member) ?? '')
  return encoding === 'text' ? source : (indentJson(source) ?? source)
}
