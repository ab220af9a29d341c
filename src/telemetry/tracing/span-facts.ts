import type { Attributes } from '@opentelemetry/api'
import { withoutUrlSecrets } from '../../domain/net/url-secrets.ts'
import type { TracedCall } from '../../ports/tracing/tracing.ts'

/** Stands for what a URL must not tell. */
const MASKED = 'REDACTED'

/** Of whom and of what a call is. */
export function jobFacts({ team, job, cronId }: TracedCall): Attributes {
  return {
    'punctual.team': team,
    'punctual.call': job === null ? 'callback' : 'job',
    ...(job !== null && { 'messaging.message.id': String(job.jobId), 'punctual.attempt': job.attempt }),
    ...(cronId !== null && { 'punctual.cron.id': cronId }),
  }
}

/** Where a call goes, without what its URL must not tell. */
export function httpFacts({ method, url, queue, job }: TracedCall): Attributes {
  const target = URL.parse(url)
  const shown = withoutUrlSecrets(url, MASKED).replace(/[?#].*$/s, '')
  return {
    'http.request.method': method,
    'url.full': shown,
    ...(target !== null && { 'server.address': target.hostname, 'server.port': portOf(target) }),
    ...(queue !== null && { 'messaging.destination.name': queue }),
    ...(job !== null && job.attempt > 1 && { 'http.request.resend_count': job.attempt - 1 }),
  }
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

export function messaging(type: 'send' | 'receive', queue: string | null): Attributes {
  return {
    'messaging.system': 'punctual',
    'messaging.operation.type': type,
    'messaging.operation.name': type === 'send' ? 'send' : 'wait',
    ...(queue !== null && { 'messaging.destination.name': queue }),
  }
}

/** The name of a span about a queue; a cron's hidden one has none. */
export function named(operation: 'send' | 'wait', queue: string | null): string {
  return queue === null ? operation : `${operation} ${queue}`
}
