import { VISIBLE_ASCII } from '../../contract/fields/idempotency-key.ts'
import { cliError, MISUSED } from '../cli-error.ts'

/**
 * Checks a header value such as a token, because the error of fetch would quote the value and name no option.
 * @param what names the value in an error
 * @param sources says where the value can be given
 */
export function visibleAscii(text: string, what: string, sources = ''): string {
  const trimmed = text.trim()
  if (VISIBLE_ASCII.test(trimmed)) return trimmed
  throw cliError(`${what} must be visible ASCII characters${sources}`, MISUSED)
}

/** Answers an idempotency key once it was checked. */
export function keyOf(key: string | undefined): string | undefined {
  return key === undefined ? undefined : visibleAscii(key, '--idempotency-key')
}
