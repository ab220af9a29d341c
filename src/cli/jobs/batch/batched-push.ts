import { REQUEST_BODY_BYTES_MAX } from '../../../domain/limits.ts'
import type { GivenLine } from './given-lines.ts'

/** Text that the API takes as a push, or why it never will. */
export type BatchedLine =
  | { readonly number: number; readonly push: string }
  | { readonly number: number; readonly problem: string }

/**
 * A line as a push of a batch: as it is written, since a payload is sent exactly so, with an idempotency key of its own
 * unless it has one.
 */
export function batchedLine({ number, bytes }: GivenLine, prefix: string): BatchedLine {
  if (bytes === null) return { number, problem: `The line is longer than ${REQUEST_BODY_BYTES_MAX} bytes.` }
  let text: string
  let push: unknown
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim()
    push = JSON.parse(text)
  } catch (fault) {
    return {
      number,
      problem: `The line is not JSON: ${fault instanceof Error ? fault.message : String(fault)}`,
    }
  }
  if (typeof push !== 'object' || push === null || Array.isArray(push)) {
    return { number, problem: 'The line is not a JSON object.' }
  }
  if ('idempotency_key' in push) {
    // The API takes an empty one as none, and a push without a key cannot be sent again.
    if (typeof push.idempotency_key === 'string' && push.idempotency_key !== '') return { number, push: text }
    return { number, problem: 'The idempotency key field must be a string that is not empty.' }
  }
  const field = `{"idempotency_key":${JSON.stringify(`${prefix}-${number}`)}`
  return { number, push: `${field}${Object.keys(push).length === 0 ? '' : ','}${text.slice(1)}` }
}
