import type { CronSettings } from '../crons/cron.ts'
import type { JobFilter } from '../jobs/job-filter.ts'
import type { CallRecord, JobChain } from '../jobs/job.ts'

/** Shown in place of what needs the permission `payloads`. */
export const MASK = '(hidden)'

/** The chain without what was sent and received: of headers the names stay, of bodies whether there were any. */
export function maskedChain(chain: JobChain): JobChain {
  const { request, calls } = chain
  const { payload, cron, headers } = request
  // The payload of a cron is any text, that of a pushed job is JSON.
  const shown = cron === null ? JSON.stringify(MASK) : MASK
  return {
    ...chain,
    request: {
      ...request,
      headers: headers && maskedHeaders(headers),
      payload: payload === null ? null : shown,
    },
    calls: calls.map(maskedCall),
  }
}

function maskedCall(call: CallRecord): CallRecord {
  const { request, response } = call
  return { ...call, request: maskedMessage(request), response: response && maskedMessage(response) }
}

function maskedMessage<Message extends CallRecord['request'] | NonNullable<CallRecord['response']>>(
  message: Message,
): Message {
  const { headers, body } = message
  return {
    ...message,
    headers: headers.map(([name]) => [name, MASK] as const),
    body: body === null || body === '' ? body : MASK,
  }
}

export function maskedCronSettings(settings: CronSettings): CronSettings {
  const { headers, payload } = settings
  return { ...settings, headers: maskedHeaders(headers), payload: payload === null ? null : MASK }
}

/** The filter without the text that it looks for, which is of payloads. */
export function maskedFilter(filter: JobFilter): JobFilter {
  return filter.text === null ? filter : { ...filter, text: MASK }
}

function maskedHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, MASK]))
}
