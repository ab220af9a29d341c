import type { Job } from '../../../../../../clients/typescript/src/client.ts'
import { useJobText } from '../../job-text.ts'
import { MASK } from '../../../../format/curl.ts'
import { indentJson, memberOf } from '../../../../format/json-text.ts'
import { Code } from '../../../../ui/text/code.tsx'

/** In place of an exchange that is not there: what was pushed, as far as it is known. */
export function NoRecord({ job }: { readonly job: Job }) {
  const headers = Object.entries(job.headers ?? {}).map(([name, value]) => `${name}: ${value}`)
  const read = useJobText(job.job_id)
  const payload = read.data === undefined ? null : payloadText(job.payload, read.data.text)
  return (
    <>
      <p class="soft">{whyNone(job)}</p>
      {headers.length > 0 && <Code label="Headers as pushed" text={headers.join('\n')} />}
      {payload !== null && (
        <Code label="Payload as pushed" text={payload} file={`job-${job.job_id}-payload.json`} />
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

/** @param text the job as it came, for the digits of its payload */
function payloadText(payload: Job['payload'], text: string): string | null {
  if (payload === null || payload === MASK) return null
  // The body of a cron's run is any text.
  const source = typeof payload === 'string' ? payload : (memberOf(text, 'payload') ?? '')
  return indentJson(source) ?? source
}
