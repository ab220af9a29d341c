import { VISIBLE_ASCII } from '../contract/requests/idempotency-key.ts'
import { clientFailure, MISUSED } from './client-failure.ts'

/**
 * A text that goes into a header of its own, such as a token. fetch would refuse others in words that name no option
 * and quote the text.
 * @param what names the text in a message
 * @param sources where it was given
 */
export function visibleAscii(text: string, what: string, sources = ''): string {
  const trimmed = text.trim()
  if (VISIBLE_ASCII.test(trimmed)) return trimmed
  throw clientFailure(`${what} must be visible ASCII characters${sources}`, MISUSED)
}

/** The header of `--idempotency-key`, if it was given. */
export function idempotencyHeader(key: string | undefined): Readonly<Record<string, string>> {
  return key === undefined ? {} : { 'idempotency-key': visibleAscii(key, '--idempotency-key') }
}
