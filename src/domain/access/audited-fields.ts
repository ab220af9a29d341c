import { excerpt } from '../excerpt.ts'
import { AUDIT_ENTRY_BYTES_MAX } from '../limits.ts'
import type { AuditedFields, AuditEntry } from './audit-record.ts'
import { withoutUrlSecrets } from '../net/url-secrets.ts'
import { MASK } from './masking.ts'

/** A value is cut at this many characters of JSON. */
export const AUDITED_VALUE_CHARACTERS_MAX = 256
/** Fields of one side of an entry. */
const AUDITED_FIELDS_MAX = 32

const CHANGED = ' (changed)'

type Fields = Readonly<Record<string, unknown>>

const HIDDEN_FIELDS: ReadonlySet<string> = new Set([
  'payload',
  'body',
  'token',
  'secret',
  'password',
  'sha256',
])
/** Fields that show a resource's state at the moment; nobody has set them. */
const STATE_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'queue_id',
  'counts',
  'throttled',
  'warnings',
  'next_run_at',
  'last_run',
  'last_success_at',
  'consecutive_failures',
  'last_used_at',
  'managed_by',
])

/**
 * The fields of a resource that an entry keeps: those that differ, or all of them when it was created or deleted.
 * Payloads are left out; of headers only the names stay, of URLs what `withoutUrlSecrets` leaves.
 * @param before null = it did not exist; `after` null = it does not exist any more
 */
export function auditedChange(
  before: Fields | null,
  after: Fields | null,
): { readonly before: AuditedFields; readonly after: AuditedFields } {
  const names = Object.keys({ ...before, ...after })
    .filter((name) => !STATE_FIELDS.has(name) && textOf(before?.[name]) !== textOf(after?.[name]))
    .slice(0, AUDITED_FIELDS_MAX)
  const side = (fields: Fields | null, other: Fields | null): AuditedFields =>
    fields && Object.fromEntries(names.map((name) => [name, shown(name, fields[name], other?.[name])]))
  return { before: side(before, null), after: side(after, before) }
}

/** Drops the last fields of an entry that is too long. */
export function boundedEntry(entry: AuditEntry): AuditEntry {
  let { before, after } = entry
  while (Buffer.byteLength(JSON.stringify({ ...entry, before, after })) > AUDIT_ENTRY_BYTES_MAX) {
    const last = Object.keys({ ...before, ...after }).at(-1)
    if (last === undefined) break
    before = without(before, last)
    after = without(after, last)
  }
  return { ...entry, before, after }
}

function without(fields: AuditEntry['before'], name: string): AuditEntry['before'] {
  return fields && Object.fromEntries(Object.entries(fields).filter(([each]) => each !== name))
}

function textOf(value: unknown): string {
  return JSON.stringify(value) ?? ''
}

/** @param other what it was before, if it was anything */
function shown(name: string, value: unknown, other: unknown): unknown {
  if (value === null || value === undefined) return null
  if (HIDDEN_FIELDS.has(name)) return MASK
  if (name === 'headers') return headerNames(value, other)
  if (typeof value === 'string') return excerpt(withoutUrlSecrets(value, MASK), AUDITED_VALUE_CHARACTERS_MAX)
  const text = textOf(value)
  return text.length <= AUDITED_VALUE_CHARACTERS_MAX ? value : excerpt(text, AUDITED_VALUE_CHARACTERS_MAX)
}

/** A name whose value is another one than before is followed by CHANGED, which no name can end with. */
function headerNames(value: object, other: unknown): string[] {
  const before = new Map(typeof other === 'object' && other !== null ? headersIn(other) : [])
  return headersIn(value).map(([name, text]) =>
    (before.get(name) ?? text) === text ? name : `${name}${CHANGED}`,
  )
}

/** Names and what tells values apart, of a map as the API has it or of a list of `{name, value}` as resources have. */
function headersIn(headers: object): [string, string][] {
  if (!Array.isArray(headers)) return Object.entries(headers).map(([name, value]) => [name, textOf(value)])
  return headers.map((item: { readonly name?: unknown }) => [String(item.name), textOf(item)])
}
