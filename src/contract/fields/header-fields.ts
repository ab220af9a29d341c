import { MASK } from '../../domain/access/masking.ts'
import type { JobRequest } from '../../domain/jobs/job.ts'
import {
  HEADER_NAME_CHARACTERS_MAX,
  HEADER_SECRET_NAME_CHARACTERS_MAX,
  HEADER_SECRETS_PER_JOB_MAX,
  HEADER_VALUE_BYTES_MAX,
  HEADERS_MAX,
  TAG_NAME_CHARACTERS_MAX,
  TAG_VALUE_CHARACTERS_MAX,
  TAGS_MAX,
} from '../../domain/limits.ts'
import { forbiddenHeaderReason, invalidHeaderValue } from '../../domain/net/header-rules.ts'
import { type HeaderSecret, headerSecretRefusal } from '../../domain/secrets/header-secret.ts'
import { headerSecretsOf } from '../../domain/secrets/secret-values.ts'
import { FieldErrors, type ValidationProblem } from './field-errors.ts'
import { type FieldReader, isJsonObject, isLongerThan, MappedFields } from './field-reader.ts'
import {
  mustBeGivenAnew,
  mustBeHeaderSecret,
  mustBeHeaderValue,
  mustBeObject,
  mustBeString,
  mustBeWellFormed,
  mustNotBeMask,
  mustNotBeLonger,
  mustNotBeMoreBytes,
  mustNotGoToHost,
  mustNotHaveMoreItems,
  mustNotRepeat,
  namesMustBeBetween,
  refusedBecause,
} from './validation-texts.ts'

type TextMap = Readonly<Record<string, string>>

const NO_ENTRIES: TextMap = Object.freeze({})

/**
 * The request headers of a job, in the order and spelling given.
 * @param mayKeep whether the mask is given to keep the value that is there; `keptHeaders` puts it in place
 */
export function readHeaders(fields: FieldReader, mayKeep = false): TextMap {
  const entries = readEntries(fields, 'headers', { max: HEADERS_MAX, nameMax: HEADER_NAME_CHARACTERS_MAX })
  if (entries.length === 0) return NO_ENTRIES
  const seen = new Set<string>()
  const headers: Array<[string, string]> = []
  for (const [name, given] of entries) {
    const field = `headers.${name}`
    const problem =
      headerProblem(field, name, given, seen) ?? (given === MASK && !mayKeep ? mustNotBeMask(field) : null)
    if (problem !== null) fields.errors.add(field, problem)
    else headers.push([name, given as string])
  }
  return Object.fromEntries(headers)
}

/** @param names at least one, as `redirectedHeaders` answers */
export function redirectedProblem(names: readonly string[]): ValidationProblem {
  const errors = names.map((name) => [`headers.${name}`, [mustBeGivenAnew(`headers.${name}`)]] as const)
  return { message: errors[0]?.[1][0] ?? '', errors: Object.fromEntries(errors) }
}

function headerProblem(field: string, name: string, value: unknown, seen: Set<string>): string | null {
  const reason = forbiddenHeaderReason(name)
  if (reason !== null) return refusedBecause(field, reason)
  const lower = name.toLowerCase()
  // Two spellings of one name are two header lines, and which one counts depends on the receiver.
  if (seen.has(lower)) return mustNotRepeat(field)
  seen.add(lower)
  if (typeof value !== 'string') return mustBeString(field)
  if (invalidHeaderValue(value)) return mustBeHeaderValue(field)
  // A valid value is ASCII: its length is its size in bytes.
  return value.length > HEADER_VALUE_BYTES_MAX ? mustNotBeMoreBytes(field, HEADER_VALUE_BYTES_MAX) : null
}

/** A team's header secrets and the job's URL, against which the names in a job are checked. */
export interface HeaderSecretContext {
  /** The team's. */
  readonly headerSecrets: readonly HeaderSecret[]
  /** Target of the job; null = not known yet. */
  readonly url: string | null
  /** Headers that the job gives values of. */
  readonly headers: TextMap
}

/** Names of header secrets, by the header that takes its value from there. */
export function readHeaderSecrets(fields: FieldReader, context: HeaderSecretContext): TextMap {
  const bounds = { max: HEADER_SECRETS_PER_JOB_MAX, nameMax: HEADER_NAME_CHARACTERS_MAX }
  const entries = readEntries(fields, 'header_secrets', bounds)
  if (entries.length === 0) return NO_ENTRIES
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(context.headers)) {
    // A change may give back what was shown.
    if (value !== MASK) seen.add(name.toLowerCase())
  }
  const named: Array<[string, string]> = []
  for (const [header, given] of entries) {
    const field = `header_secrets.${header}`
    const problem = headerProblem(field, header, given, seen) ?? nameProblem(field, given as string, context)
    if (problem !== null) fields.errors.add(field, problem)
    else named.push([header, given as string])
  }
  return Object.fromEntries(named)
}

function nameProblem(
  field: string,
  name: string,
  { headerSecrets, url }: Omit<HeaderSecretContext, 'headers'>,
): string | null {
  if (isLongerThan(name, HEADER_SECRET_NAME_CHARACTERS_MAX)) {
    return mustNotBeLonger(field, HEADER_SECRET_NAME_CHARACTERS_MAX)
  }
  const refusal = headerSecretRefusal(headerSecrets, name, url)
  if (refusal === null) return null
  return refusal === 'unknown' ? mustBeHeaderSecret(field) : mustNotGoToHost(field)
}

/**
 * Checks the header secrets of a copy, which goes elsewhere or names secrets that may have changed; null = no problem.
 */
export function headerSecretsProblem(
  request: Pick<JobRequest, 'url' | 'headers'>,
  headerSecrets: readonly HeaderSecret[],
): ValidationProblem | null {
  const errors = new FieldErrors()
  for (const [header, name] of Object.entries(headerSecretsOf(request.headers))) {
    const field = `header_secrets.${header}`
    const problem = nameProblem(field, name, { headerSecrets, url: request.url })
    if (problem !== null) errors.add(field, problem)
  }
  return errors.problem()
}

/** The labels of a job, for its owner's use. */
export function readTags(fields: FieldReader): TextMap {
  const entries = readEntries(fields, 'tags', { max: TAGS_MAX, nameMax: TAG_NAME_CHARACTERS_MAX })
  if (entries.length === 0) return NO_ENTRIES
  const values = new Map(entries)
  const tags = new MappedFields(fields.errors, (name) => values.get(name) ?? null, 'tags.')
  return Object.fromEntries(
    entries.flatMap(([name]) => {
      const text = tags.text(name, TAG_VALUE_CHARACTERS_MAX)
      return text === null ? [] : [[name, text]]
    }),
  )
}

interface EntryBounds {
  readonly max: number
  /** Characters of a name. */
  readonly nameMax: number
}

/** The entries of an object; none when their number or a name is out of bounds. */
function readEntries(fields: FieldReader, field: string, bounds: EntryBounds): Array<[string, unknown]> {
  const value = fields.value(field)
  if (value === undefined) return []
  const entries = isJsonObject(value) ? Object.entries(value) : null
  const problem = entries === null ? mustBeObject(field) : entriesProblem(field, entries, bounds)
  if (problem === null) return entries ?? []
  fields.errors.add(field, problem)
  return []
}

function entriesProblem(
  field: string,
  entries: ReadonlyArray<[string, unknown]>,
  { max, nameMax }: EntryBounds,
): string | null {
  if (entries.length > max) return mustNotHaveMoreItems(field, max)
  for (const [name] of entries) {
    if (name === '' || isLongerThan(name, nameMax)) return namesMustBeBetween(field, nameMax)
    if (!name.isWellFormed()) return mustBeWellFormed(field)
  }
  return null
}
