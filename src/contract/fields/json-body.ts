import { isUtf8 } from 'node:buffer'
import type { SlicedWork } from '../../domain/shares/cost-gate.ts'
import { JSON_DEPTH_MAX } from '../../domain/limits.ts'
import { FieldErrors, singleProblem, type ValidationProblem } from './field-errors.ts'
import { FieldReader } from './field-reader.ts'
import type { JsonItem } from './json-items.ts'
import {
  type JsonMember,
  type JsonObjectScan,
  memberValue,
  scanJsonObject,
  scanJsonObjectSliced,
} from './json-members.ts'
import { describeLocation, locationAfter, locationAfterSliced } from './text-location.ts'
import { refuseUnknownFields, UNKNOWN_FIELDS_NAMED_MAX } from './unknown-fields.ts'
import { mustBeObject, mustNotBeDeeper, mustNotHoldMoreValues, mustNotRepeat } from './validation-texts.ts'

/** Repeated fields are tolerated up to here; the last one counts. */
const REPEATED_FIELDS_MAX = 100
/** Fields that are looked at before it is known which ones there may be: far more than any request has. */
const FIELDS_SCANNED_MAX = 256
/**
 * Values in a field that is parsed, nested ones included. Far above the bound of any field, whose own check then names
 * the mistake; a field of hundreds of thousands of values is never built.
 */
const FIELD_VALUES_MAX = 256

/** A checked value, a sentence for 400, or a problem for 422. */
export type BodyResult<T> =
  | { readonly kind: 'valid'; readonly value: T }
  | { readonly kind: 'malformed'; readonly error: string }
  | { readonly kind: 'invalid'; readonly problem: ValidationProblem }

type Members = ReadonlyMap<string, JsonMember>

/** Reads the fields of a JSON body. `null` counts as absent, as does a value that is too deep, which is reported. */
export class JsonFields extends FieldReader {
  readonly #text: string
  readonly #members: Members

  constructor(text: string, members: Members, errors: FieldErrors) {
    super(errors)
    this.#text = text
    this.#members = members
  }

  override value(field: string): unknown {
    const member = this.#find(field)
    if (member === undefined) return undefined
    if (member.values <= FIELD_VALUES_MAX) return memberValue(this.#text, member) ?? undefined
    this.refuse(field, (path) => mustNotHoldMoreValues(path, FIELD_VALUES_MAX))
    return undefined
  }

  /** Whether the body has the field, even as null. */
  has(field: string): boolean {
    return this.#members.has(field)
  }

  /** The exact source text of a value, not parsed. */
  source(field: string): string | undefined {
    const member = this.#find(field)
    const source = member === undefined ? 'null' : this.#text.slice(member.start, member.end)
    return source === 'null' ? undefined : source
  }

  #find(field: string): JsonMember | undefined {
    const member = this.#members.get(field)
    if (member === undefined || member.depth <= JSON_DEPTH_MAX) return member
    this.refuse(field, (path) => mustNotBeDeeper(path, JSON_DEPTH_MAX))
    return undefined
  }
}

type Malformed = Extract<BodyResult<never>, { kind: 'malformed' }>
type GoodScan = Extract<JsonObjectScan, { kind: 'object' | 'stopped' }>

/** A body whose fields have been found, as `scanBody` does it. */
export class ScannedBody {
  readonly found: Malformed | { readonly text: string; readonly scan: GoodScan }

  constructor(found: ScannedBody['found']) {
    this.found = found
  }
}

/** The bytes of a body, or what was found in those of a large one. */
export type RequestBody = Buffer | ScannedBody

/** Finds the fields of a body, in slices. */
export function* scanBody(body: Buffer): SlicedWork<ScannedBody> {
  const text = body.toString('utf8')
  yield
  if (!isUtf8(body)) {
    const location = yield* locationAfterSliced(text, text.indexOf('\ufffd'))
    return new ScannedBody({ kind: 'malformed', error: malformedUtf8Text(describeLocation(location)) })
  }
  yield
  const scan = yield* scanJsonObjectSliced(text, manyFields())
  if (scan.kind === 'object' || scan.kind === 'stopped') return new ScannedBody({ text, scan })
  const location = yield* locationAfterSliced(text, scan.position)
  const isEarlyEnd = scan.position === text.length
  return new ScannedBody({
    kind: 'malformed',
    error: malformedText(scan.kind, describeLocation(location), isEarlyEnd),
  })
}

/** Refuses early like `refusedEarly`, whatever fields there may be. */
function manyFields(): (name: string, isRepeated: boolean) => boolean {
  let fields = 0
  let repeated = 0
  return (_name, isRepeated) => {
    if (isRepeated) repeated += 1
    else fields += 1
    return fields > FIELDS_SCANNED_MAX || repeated > REPEATED_FIELDS_MAX
  }
}

/**
 * Reads a JSON object from a body. `read` checks the known fields in the contract's order; unknown ones are
 * reported after them.
 */
export function readJsonBody<T>(
  body: RequestBody,
  known: ReadonlySet<string>,
  read: (fields: JsonFields) => T,
): BodyResult<T> {
  if (body instanceof ScannedBody) return readScanned(body, known, read)
  const text = textOf(body)
  if (typeof text !== 'string') return text
  const scan = scanJsonObject(text, refusedEarly(known))
  if (scan.kind === 'stopped') return { kind: 'invalid', problem: problemOfStart(scan, known) }
  if (scan.kind !== 'object') {
    const where = describeLocation(locationAfter(text, scan.position))
    return { kind: 'malformed', error: malformedText(scan.kind, where, scan.position === text.length) }
  }
  return readMembers({ text, members: scan.members }, known, read)
}

function readScanned<T>(
  { found }: ScannedBody,
  known: ReadonlySet<string>,
  read: (fields: JsonFields) => T,
): BodyResult<T> {
  if ('error' in found) return found
  const { text, scan } = found
  let unknown = 0
  for (const name of scan.members.keys()) if (!known.has(name)) unknown += 1
  if (scan.kind === 'object' && unknown <= UNKNOWN_FIELDS_NAMED_MAX) {
    return readMembers({ text, members: scan.members }, known, read)
  }
  // Without the name of `stopped`, there is an unknown field to report.
  return { kind: 'invalid', problem: problemOfStart({ name: '', ...scan }, known) }
}

/** A checked value, or a problem for 422. */
export type ItemResult<T> = Exclude<BodyResult<T>, { kind: 'malformed' }>

/** Reads an item of a list as `readJsonBody` reads a body. @param path of the item, for one that is no object */
export function readJsonItem<T>(
  { text, scan }: JsonItem,
  path: string,
  { known, read }: { readonly known: ReadonlySet<string>; read(fields: JsonFields): T },
): ItemResult<T> {
  if (scan === null) return { kind: 'invalid', problem: singleProblem(path, mustBeObject(path)) }
  if (scan.kind === 'stopped') return { kind: 'invalid', problem: problemOfStart(scan, known) }
  return readMembers({ text, members: scan.members }, known, read)
}

function readMembers<T>(
  { text, members }: { readonly text: string; readonly members: Members },
  known: ReadonlySet<string>,
  read: (fields: JsonFields) => T,
): ItemResult<T> {
  const errors = new FieldErrors()
  const value = read(new JsonFields(text, members, errors))
  refuseUnknownFields(errors, { names: members.keys(), known })
  const problem = errors.problem()
  return problem === null ? { kind: 'valid', value } : { kind: 'invalid', problem }
}

/** The text of a body, or why it has none. */
function textOf(body: Buffer): string | Malformed {
  const text = body.toString('utf8')
  if (isUtf8(body)) return text
  return {
    kind: 'malformed',
    error: malformedUtf8Text(describeLocation(locationAfter(text, text.indexOf('\ufffd')))),
  }
}

export function malformedUtf8Text(where: string): string {
  return `Malformed UTF-8 at ${where}.`
}

export function malformedText(kind: 'other' | 'malformed', where: string, isEarlyEnd: boolean): string {
  if (kind === 'other') return `The body must be a JSON object, at ${where}.`
  return `Malformed JSON at ${where}${isEarlyEnd ? ': the body ends early' : ''}.`
}

/** Ends the scan once the body is certain to be refused. */
export function refusedEarly(known: ReadonlySet<string>): (name: string, isRepeated: boolean) => boolean {
  let unknown = 0
  let repeated = 0
  return (name, isRepeated) => {
    if (isRepeated) repeated += 1
    else if (!known.has(name)) unknown += 1
    return unknown > UNKNOWN_FIELDS_NAMED_MAX || repeated > REPEATED_FIELDS_MAX
  }
}

/** Reports what was scanned. A required field may be in the rest. */
function problemOfStart(
  { members, name }: { readonly members: Members; readonly name: string },
  known: ReadonlySet<string>,
): ValidationProblem {
  const errors = new FieldErrors()
  refuseUnknownFields(errors, { names: members.keys(), known })
  return errors.problem() ?? singleProblem(name, mustNotRepeat(name))
}
