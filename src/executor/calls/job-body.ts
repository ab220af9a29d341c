import type { JobRequest } from '../../domain/jobs/job.ts'

type Content = Pick<JobRequest, 'payload' | 'bodyEncoding'>

/** The body that is sent: a text in UTF-8, or bytes; null = none. */
export function bodyOf({ payload, bodyEncoding }: Content): string | Uint8Array | null {
  return payload !== null && bodyEncoding === 'base64' ? Buffer.from(payload, 'base64') : payload
}

/** The Content-Type of the body, unless a header gives it. */
export function defaultContentType({ bodyEncoding }: Content): string {
  if (bodyEncoding === 'text') return 'text/plain; charset=utf-8'
  return bodyEncoding === 'base64' ? 'application/octet-stream' : 'application/json'
}
