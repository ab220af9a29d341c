import type { IncomingMessage, ServerResponse } from 'node:http'
import { CALL_DEPTH_MAX } from '../../domain/limits.ts'
import { answerError } from '../answers.ts'

/**
 * How many jobs in a row led to this request, each by a call to an API like this one: calls say so in their header
 * `X-Punctual-Depth`, and a job that the request makes says one more. 0 = a client's own request.
 */
export function callDepthOf({ headers }: IncomingMessage): number {
  const text = headers['x-punctual-depth']
  if (text === undefined) return 0
  // Only calls send it; one that cannot be read, or comes twice, may be of any depth.
  return typeof text === 'string' && /^[0-9]{1,3}$/.test(text) ? Number(text) : CALL_DEPTH_MAX
}

/** Refuses what jobs that call this API would go on with for ever; true once that is answered. */
export function refuseLoop(request: IncomingMessage, response: ServerResponse): boolean {
  if (request.method === 'GET' || request.method === 'HEAD' || callDepthOf(request) < CALL_DEPTH_MAX)
    return false
  answerError(response, 403, LOOP_TEXT)
  return true
}

const LOOP_TEXT = `A job may not call this API here: ${CALL_DEPTH_MAX} jobs in a row have made each other by such calls`
