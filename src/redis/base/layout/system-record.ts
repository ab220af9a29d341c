import type { TraceContext } from '../../../domain/net/trace-context.ts'
import { decodeTrace, splitRequest, withoutTail } from './job-record.ts'

/**
 * The settings hash of system jobs, whose settings are fixed in the program. Their records have the form of those of jobs,
 * with another `meta`.
 */
export const SYSTEM_SETTINGS_HASH = '-----------'

/** A callback: its URL, its team and its `webhook-id`. */
export interface SystemRequest {
  readonly url: string
  readonly team: string
  readonly webhookId: string
  readonly body: string
  readonly callDepth?: number
  readonly trace?: TraceContext
}

export function encodeSystemRequest(request: SystemRequest): string {
  const { url, team, webhookId, callDepth, trace, body } = request
  const meta = [url, team, webhookId, callDepth ?? 0, trace?.parent ?? 0, trace?.state ?? 0]
  return `\n${JSON.stringify(withoutTail(meta, () => 0))}\n${body}`
}

export function decodeSystemRequest(part: string): SystemRequest {
  const { meta, rest } = splitRequest(part)
  const [url, team, webhookId, callDepth = 0, parent, state] = meta as [
    string,
    string,
    string,
    number?,
    unknown?,
    unknown?,
  ]
  if ([url, team, webhookId].some((part) => typeof part !== 'string'))
    throw new Error('a callback is damaged')
  return {
    url,
    team,
    webhookId,
    ...(callDepth === 0 ? {} : { callDepth }),
    ...decodeTrace(parent, state),
    body: rest ?? '',
  }
}

/** The record of a system job without its due time, which the step writes. */
export function encodeSystemRecord(request: SystemRequest, timeoutSeconds: number): string {
  return `100${String(timeoutSeconds).padStart(3, '0')}${SYSTEM_SETTINGS_HASH}|${encodeSystemRequest(request)}`
}
