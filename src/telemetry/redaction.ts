import { isSecretHeader } from '../domain/secrets/secret-headers.ts'
import { withoutUrlSecrets } from '../domain/net/url-secrets.ts'

/**
 * Keeps secrets out of logs. A field is judged by its name; text is judged by what it holds, because a URL or a
 * bearer token also turns up inside an error message.
 */

const REDACTED = '[redacted]'
const DEPTH_MAX = 6
const ITEMS_MAX = 100
const TEXT_CHARACTERS_MAX = 2_000

/** Ends of names that are no headers, lower case without `-` and `_`; beside them those of secret headers count. */
const SECRET_NAME = /(?:cookies|payload|body|signatures?)$/
/** A fencing token is a counter, and the one token worth reading in a log. */
const PUBLIC_NAMES: ReadonlySet<string> = new Set(['fencingtoken'])

const URL_IN_TEXT = /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]*/gi
const CREDENTIAL_IN_TEXT = /\b(Bearer|Basic)\s+[\w.~+/=-]+/gi
const SIGNING_SECRET_IN_TEXT = /\bwhsec_[\w+/=-]+/g

/** A copy of `fields` that may be written out: names and texts judged, depth and length bounded. */
export function redactFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return redactRecord(fields, 0)
}

/** `text` without credentials, those in URLs included. */
export function redactText(text: string): string {
  const cut =
    text.length <= TEXT_CHARACTERS_MAX
      ? text
      : `${text.slice(0, TEXT_CHARACTERS_MAX)}… (${text.length} characters)`
  return cut
    .replace(URL_IN_TEXT, (url) => withoutUrlSecrets(url, REDACTED))
    .replace(CREDENTIAL_IN_TEXT, `$1 ${REDACTED}`)
    .replace(SIGNING_SECRET_IN_TEXT, REDACTED)
}

function redactRecord(record: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> {
  const entries = Object.entries(record).slice(0, ITEMS_MAX)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, isSecretName(name) ? REDACTED : redactValue(value, depth + 1)]),
  )
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEPTH_MAX) return '[too deep]'
  if (value instanceof Error) return redactError(value, depth)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof URL) return redactText(value.href)
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (Array.isArray(value)) return redactList(value, depth)
  if (value instanceof Map) return redactRecord(Object.fromEntries(value), depth)
  if (value instanceof Set) return redactList([...value], depth)
  return redactRecord(value as Record<string, unknown>, depth)
}

/** Headers travel as pairs, so a pair is judged like a field: `['authorization', '…']`. */
function redactList(list: readonly unknown[], depth: number): unknown {
  const [name, value] = list
  if (list.length === 2 && typeof name === 'string' && typeof value === 'string' && isSecretName(name)) {
    return [name, REDACTED]
  }
  return list.slice(0, ITEMS_MAX).map((item) => redactValue(item, depth + 1))
}

function redactError(error: Error, depth: number): Record<string, unknown> {
  const code = (error as { code?: unknown }).code
  return {
    type: error.name,
    message: redactText(error.message),
    ...(typeof code === 'string' && { code }),
    ...(error.stack !== undefined && { stack: redactText(error.stack) }),
    ...(error.cause !== undefined && { cause: redactValue(error.cause, depth + 1) }),
  }
}

function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[-_]/g, '')
  return (SECRET_NAME.test(plain) || isSecretHeader(name)) && !PUBLIC_NAMES.has(plain)
}
