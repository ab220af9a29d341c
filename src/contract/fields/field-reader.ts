import { URL_CHARACTERS_MAX } from '../../domain/limits.ts'
import { isCallableHost } from '../../domain/net/host-name.ts'
import type { FieldErrors } from './field-errors.ts'
import {
  mustBeBetween,
  mustBeBoolean,
  mustBeInteger,
  mustBeString,
  mustBeUrl,
  mustBeWellFormed,
  mustNotBeBlocked,
  mustNotBeLonger,
  mustNotCarryCredentials,
  required,
  selectedInvalid,
} from './validation-texts.ts'

/** Whether the egress policy refuses a literal address or a name, without DNS. */
export type IsBlocked = (url: URL) => boolean

/**
 * Reads and checks the fields of a body, a query or an item of a list. A check answers null for an absent field, and for
 * a wrong one, which it reports once.
 */
export abstract class FieldReader {
  readonly errors: FieldErrors
  readonly #prefix: string

  /** @param prefix the path in front of the fields, with a trailing dot */
  constructor(errors: FieldErrors, prefix = '') {
    this.errors = errors
    this.#prefix = prefix
  }

  /** undefined when the field is absent. */
  abstract value(field: string): unknown

  /** Reports a mistake; `text` gets the field's path. */
  refuse(field: string, text: (path: string) => string): null {
    const path = this.#prefix + field
    this.errors.add(path, text(path))
    return null
  }

  text(field: string, max: number): string | null {
    return this.#checkText(field, this.value(field), max)
  }

  requiredText(field: string, max: number): string | null {
    const value = this.value(field)
    return isEmpty(value) ? this.refuse(field, required) : this.#checkText(field, value, max)
  }

  /** `"300"` and `1.5` are refused; `1.0` and `1e2` are integers, as in JSON Schema. */
  integer(field: string, min: number, max: number): number | null {
    const value = this.value(field)
    if (value === undefined) return null
    if (typeof value !== 'number' || !Number.isInteger(value)) return this.refuse(field, mustBeInteger)
    if (value < min || value > max) return this.refuse(field, (path) => mustBeBetween(path, min, max))
    // -0 is stored as 0.
    return value === 0 ? 0 : value
  }

  boolean(field: string): boolean | null {
    const value = this.value(field)
    if (value === undefined) return null
    return typeof value === 'boolean' ? value : this.refuse(field, mustBeBoolean)
  }

  choice<T extends string | number>(field: string, choices: readonly T[]): T | null {
    const value = this.value(field)
    if (value === undefined) return null
    return choices.find((choice) => choice === value) ?? this.refuse(field, selectedInvalid)
  }

  /** @param accepted as `PushContext.acceptedUrls` */
  url(field: string, isBlocked: IsBlocked, accepted?: Set<string>): string | null {
    return this.#checkUrl(field, this.value(field), { isBlocked, accepted })
  }

  /** @param accepted as `PushContext.acceptedUrls` */
  requiredUrl(field: string, isBlocked: IsBlocked, accepted?: Set<string>): string | null {
    const value = this.value(field)
    return isEmpty(value)
      ? this.refuse(field, required)
      : this.#checkUrl(field, value, { isBlocked, accepted })
  }

  #checkText(field: string, value: unknown, max: number): string | null {
    if (value === undefined) return null
    if (typeof value !== 'string') return this.refuse(field, mustBeString)
    if (!value.isWellFormed()) return this.refuse(field, mustBeWellFormed)
    return isLongerThan(value, max) ? this.refuse(field, (path) => mustNotBeLonger(path, max)) : value
  }

  #checkUrl(
    field: string,
    value: unknown,
    { isBlocked, accepted }: { readonly isBlocked: IsBlocked; readonly accepted: Set<string> | undefined },
  ): string | null {
    if (typeof value === 'string' && accepted?.has(value) === true) return value
    const text = this.#checkText(field, value, URL_CHARACTERS_MAX)
    if (text === null) return null
    const url = URL_START.test(text) && !URL_REFUSED.test(text) ? URL.parse(text) : null
    // Nothing listens on port 0, and no client connects to it.
    if (url === null || !isCallableHost(url.hostname) || url.port === '0')
      return this.refuse(field, mustBeUrl)
    if (url.username !== '' || url.password !== '' || (text.includes('@') && hasUserinfo(text))) {
      return this.refuse(field, mustNotCarryCredentials)
    }
    if (isBlocked(url)) return this.refuse(field, mustNotBeBlocked)
    accepted?.add(text)
    return text
  }
}

/** Fields whose values a function finds. */
export class MappedFields extends FieldReader {
  readonly #valueOf: (field: string) => unknown

  constructor(errors: FieldErrors, valueOf: (field: string) => unknown, prefix?: string) {
    super(errors, prefix)
    this.#valueOf = valueOf
  }

  override value(field: string): unknown {
    return this.#valueOf(field)
  }
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === ''
}

/** Lengths count Unicode code points: at most as many as UTF-16 units, at least half as many. */
export function isLongerThan(text: string, max: number): boolean {
  if (text.length <= max) return false
  if (text.length > max * 2) return true
  let points = 0
  for (const _ of text) points += 1
  return points > max
}

/** A JSON object, not an array. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** WHATWG's parser would also accept `http:host` and `http:\\host`. */
const URL_START = /^https?:\/\/[^/?#]/i
/** Characters that WHATWG's parser silently strips or turns into `/`: C0 controls, spaces, DEL, backslashes. */
// oxlint-disable-next-line no-control-regex
const URL_REFUSED = /[\u0000-\u0020\u007f\\]/

/** `http://@host` and `http://:@host` parse to empty credentials. */
function hasUserinfo(text: string): boolean {
  const authority = text.slice(text.indexOf('//') + 2)
  const end = authority.search(/[/?#]/)
  return (end === -1 ? authority : authority.slice(0, end)).includes('@')
}
