import { VISIBLE_ASCII } from '../../contract/requests/idempotency-key.ts'
import { cliError, MISUSED } from '../cli-error.ts'

/**
 * Checks a header value such as a token. The error of fetch would quote the value and name no option.
 * @param what names the value in an error
 * @param sources where it can be given
 */
export function visibleAscii(text: string, what: string, sources = ''): string {
  const trimmed = text.trim()
  if (VISIBLE_ASCII.test(trimmed)) return trimmed
  throw cliError(`${what} must be visible ASCII characters${sources}`, MISUSED)
}

/** An idempotency key as given, once it is one. */
export function keyOf(key: string | undefined): string | undefined {
  return key === undefined ? undefined : visibleAscii(key, '--idempotency-key')
}
