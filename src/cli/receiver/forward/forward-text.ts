import type { LocalEnd } from './local-call.ts'
import type { CallCopy, NoCopy } from './call-copy.ts'

const WHY_NONE = {
  not_recorded: 'no record of its call was kept, as of many successes in a second',
  cut: 'its body has more than 16 KiB, and a job that has ended keeps no more',
  old: 'its call is older than 5 minutes, so its signature counts no more',
} as const satisfies Record<NoCopy, string>

export interface Sent {
  readonly copy: CallCopy
  readonly url: URL
  readonly end: LocalEnd
}

export function beginText(queue: string, forward: string): string {
  return [
    `copies of the calls of queue ${queue} go to ${forward}`,
    'The target gets every call as before, and only its answers count: what is answered here changes nothing.\n\n',
  ].join('\n')
}

export function sentText({ copy, url, end }: Sent, at: Date): string {
  const here = end.kind === 'answered' ? String(end.status) : end.message
  const what = `${copy.method} ${url.pathname}${url.search}`
  const line = `${at.toISOString()}  job ${copy.jobId}, attempt ${copy.attempt}  ${what}  ${here} in ${end.durationMs} ms (target: ${copy.outcome})\n`
  if (copy.leftOut.length === 0) return line
  return `${line}  without ${copy.leftOut.join(', ')}: secret values are shown to nobody\n`
}

export function sentLine({ copy, url, end }: Sent, at: Date): string {
  const line = {
    at: at.toISOString(),
    job_id: copy.jobId,
    attempt: copy.attempt,
    method: copy.method,
    url: url.href,
    status: end.kind === 'answered' ? end.status : null,
    error: end.kind === 'failed' ? end.message : null,
    duration_ms: end.durationMs,
    target: copy.outcome,
    left_out_headers: copy.leftOut,
  }
  return `${JSON.stringify(line)}\n`
}

export function leftText(jobId: number, reason: NoCopy): string {
  return `job ${jobId} is not copied: ${WHY_NONE[reason]}\n`
}

export function skippedText(count: number, mayBeMore: boolean): string {
  return `${mayBeMore ? 'at least ' : ''}${count} calls are not copied: more have ended than can be copied at once\n`
}
