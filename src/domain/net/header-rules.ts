/**
 * Which headers a caller may give (reliability note S06). The API refuses the others with 422; the outbound
 * client, which shares these rules, drops whatever still gets through.
 */

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const VALUE = /^[\t\x20-\x7e]*$/

/** Framing and connection control: they steer the connection itself, so a caller's value could smuggle a request. */
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
/** Ours: a receiver trusts them as signed or set by the service. */
const RESERVED_PREFIXES = ['webhook-', 'x-punctual-']

/**
 * Why a header may not be given, as the end of a sentence that starts with the header's name; null when it may.
 * Looks at the name alone.
 */
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

/** Whether a value holds anything but a tab and the bytes 0x20–0x7E: line breaks, NUL, text outside ASCII. */
export function invalidHeaderValue(value: string): boolean {
  return !VALUE.test(value)
}
