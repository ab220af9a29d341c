/** Which headers a caller may set. The API refuses the others with 422; the outbound client drops any that remain. */

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const VALUE = /^[\t\x20-\x7e]*$/

/** Framing and connection control: a caller's value could smuggle a request. */
const CONNECTION_CONTROL = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const CONNECTION_CONTROL_PREFIX = 'proxy-'
/** Receivers trust these as set by Punctual. */
const RESERVED_PREFIXES = ['webhook-', 'x-punctual-']

/** Why a header of this name may not be set, as the end of a sentence that starts with the name; null if it may. */
export function forbiddenHeaderReason(name: string): string | null {
  if (!TOKEN.test(name)) return 'is not a valid header name'
  const lower = name.toLowerCase()
  if (CONNECTION_CONTROL.has(lower) || lower.startsWith(CONNECTION_CONTROL_PREFIX)) {
    return 'controls the connection and cannot be set'
  }
  for (const prefix of RESERVED_PREFIXES) {
    if (lower.startsWith(prefix)) return 'is set by Punctual and cannot be given'
  }
  return null
}

/** Whether a value has characters other than tab and 0x20–0x7E, such as line breaks, NUL or non-ASCII text. */
export function invalidHeaderValue(value: string): boolean {
  return !VALUE.test(value)
}
