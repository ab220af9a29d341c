import { HEADER_VALUE_BYTES_MAX } from '../domain/limits.ts'
import { invalidHeaderValue } from '../domain/net/header-rules.ts'
import type { FieldProblem } from './schema/field-path.ts'

/** Known fields of a core `v1` Secret; any other is an error. */
const FIELDS: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'metadata',
  'type',
  'immutable',
  'data',
  'stringData',
])
const KEY = /^[-._a-zA-Z0-9]{1,253}$/

/** Reads the values of a Secret: `data` in base64, overridden by `stringData`. No problem shows a value. */
export function secretDataOf(document: Readonly<Record<string, unknown>>): {
  readonly data: Readonly<Record<string, Uint8Array>>
  readonly problems: readonly FieldProblem[]
} {
  const problems: FieldProblem[] = Object.keys(document)
    .filter((name) => !FIELDS.has(name))
    .map((name) => ({ path: [name], reason: `is not a known field; known here: ${[...FIELDS].join(', ')}.` }))
  const encoded = valuesOf(document, 'data', fromBase64, 'must be a text in base64.')
  const plain = valuesOf(document, 'stringData', fromText, 'must be a text; put quotes around a number.')
  return {
    // The object has no prototype, so that `constructor` is a key like any other.
    data: Object.freeze(Object.assign(Object.create(null), encoded.values, plain.values)),
    problems: [...problems, ...encoded.problems, ...plain.problems],
  }
}

function valuesOf(
  document: Readonly<Record<string, unknown>>,
  field: 'data' | 'stringData',
  decode: (value: unknown) => Uint8Array | null,
  reason: string,
): { values: Record<string, Uint8Array>; problems: FieldProblem[] } {
  const map = document[field] ?? {}
  if (typeof map !== 'object' || Array.isArray(map)) {
    return { values: {}, problems: [{ path: [field], reason: 'must be a map of keys and texts.' }] }
  }
  const values: Record<string, Uint8Array> = Object.create(null)
  const problems: FieldProblem[] = []
  for (const [key, value] of Object.entries(map)) {
    const bytes = decode(value)
    if (!KEY.test(key)) {
      problems.push({
        path: [field, key],
        reason: 'is not a valid key: letters, digits, -, _ and . are allowed.',
      })
    } else if (bytes === null) problems.push({ path: [field, key], reason })
    else values[key] = bytes
  }
  return { values, problems }
}

function fromBase64(value: unknown): Uint8Array | null {
  if (typeof value !== 'string') return null
  const text = value.replaceAll(/[\r\n]/g, '')
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : null
}

function fromText(value: unknown): Uint8Array | null {
  return typeof value === 'string' ? Buffer.from(value, 'utf8') : null
}

const SIGNING_SECRET = /^[\x21-\x7e]{1,512}$/
/** Shorter keys can be guessed from a signature, so Standard Webhooks demands as much. */
const SIGNING_SECRET_BYTES_MIN = 24

/** Ways in which a secret is often copied, and which the libraries of receivers read as another key than we would. */
const SLIPS: ReadonlyArray<{ readonly form: RegExp; readonly reason: string }> = [
  { form: /^(["'`]).*\1$/s, reason: 'stands in quotes: write it without them.' },
  { form: /^v1,/i, reason: 'begins with "v1,", as a signature does: write what stands behind it.' },
  { form: /^(?!whsec_)[Ww][Hh][Ss][Ee][Cc]_/, reason: 'must begin with whsec_ in small letters.' },
  {
    form: /^[A-Za-z0-9+/]{30,}={1,2}$/,
    reason: 'looks like base64: write whsec_ before it, or receivers read another key than is signed with.',
  },
]

/** Reads the text of a signing secret, or says why it is not valid. */
export function signingSecretOf(bytes: Uint8Array): { readonly text: string } | { readonly reason: string } {
  const text = Buffer.from(bytes).toString('utf8')
  if (/[\r\n]$/.test(text)) {
    return { reason: 'ends with a line break: write it without one (use printf, not echo).' }
  }
  const slip = SLIPS.find(({ form }) => form.test(text))
  if (slip !== undefined) return { reason: slip.reason }
  if (!SIGNING_SECRET.test(text)) return { reason: 'must be 1 to 512 visible ASCII characters.' }
  if (text.startsWith('whsec_') && !isBase64(text.slice('whsec_'.length))) {
    return { reason: 'must be base64 after whsec_.' }
  }
  const bytesOfKey = text.startsWith('whsec_')
    ? Buffer.from(text.slice('whsec_'.length), 'base64').length
    : text.length
  if (bytesOfKey < SIGNING_SECRET_BYTES_MIN) {
    return { reason: `must have at least ${SIGNING_SECRET_BYTES_MIN} bytes, not ${bytesOfKey}.` }
  }
  return { text }
}

/** Reads the text of a header's value, or says why it is not valid. */
export function headerTextOf(bytes: Uint8Array): { readonly text: string } | { readonly reason: string } {
  const text = Buffer.from(bytes).toString('utf8')
  if (/[\r\n]$/.test(text)) {
    return { reason: 'ends with a line break: write it without one (use printf, not echo).' }
  }
  if (text === '' || invalidHeaderValue(text)) {
    return { reason: 'must be visible ASCII characters, spaces and tabs.' }
  }
  return text.length > HEADER_VALUE_BYTES_MAX
    ? { reason: `must have at most ${HEADER_VALUE_BYTES_MAX} bytes.` }
    : { text }
}

/** Padding may be left out. */
function isBase64(text: string): boolean {
  const bare = text.replace(/=+$/, '')
  return bare !== '' && Buffer.from(text, 'base64').toString('base64').replace(/=+$/, '') === bare
}
