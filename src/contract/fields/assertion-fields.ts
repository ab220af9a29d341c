import type { SuccessAssertion } from '../../domain/jobs/assertion.ts'
import {
  ASSERTION_TEXT_CHARACTERS_MAX,
  SUCCESS_ASSERTIONS_MAX,
  TIMEOUT_SECONDS_MAX,
} from '../../domain/limits.ts'
import type { FieldErrors } from './field-errors.ts'
import { refuseUnknownFields } from './field-reader.ts'
import { isJsonObject, readChoice, readInteger, readRequiredText } from './field-rules.ts'
import { mustBeArray, mustBeObject, mustNotHaveMoreItems, required } from './validation-texts.ts'

/** The success assertions of a queue or a cron. */

const ASSERTION_TYPES = ['status_code_equals', 'body_contains', 'response_time_under_ms'] as const
const ASSERTION_FIELDS: ReadonlySet<string> = new Set(['type', 'value'])
const STATUS_MIN = 100
const STATUS_MAX = 599

/** What was stored but cannot work. */
export function assertionWarnings(assertions: readonly SuccessAssertion[]): string[] {
  const warnings: string[] = []
  for (const [index, assertion] of assertions.entries()) {
    if (assertion.type !== 'status_code_equals') continue
    if (assertion.value >= 200 && assertion.value <= 299) continue
    warnings.push(
      `success_assertions.${index}: only a 2xx response is a success, so status ${assertion.value} can never pass.`,
    )
  }
  return warnings
}

export function readAssertions(errors: FieldErrors, value: unknown): SuccessAssertion[] | null {
  const field = 'success_assertions'
  if (value === undefined) return null
  if (!Array.isArray(value)) {
    errors.add(field, mustBeArray(field))
    return null
  }
  if (value.length > SUCCESS_ASSERTIONS_MAX) {
    errors.add(field, mustNotHaveMoreItems(field, SUCCESS_ASSERTIONS_MAX))
    return null
  }
  const items: readonly unknown[] = value
  return items.flatMap((item, index) => readAssertion(errors, `${field}.${index}`, item) ?? [])
}

function readAssertion(errors: FieldErrors, field: string, item: unknown): SuccessAssertion | null {
  if (!isJsonObject(item)) {
    errors.add(field, mustBeObject(field))
    return null
  }
  const assertion = readTypedValue(errors, field, item)
  refuseUnknownFields(Object.keys(item), ASSERTION_FIELDS, errors, `${field}.`)
  return assertion
}

function readTypedValue(
  errors: FieldErrors,
  field: string,
  item: Readonly<Record<string, unknown>>,
): SuccessAssertion | null {
  const given = item['type'] ?? undefined
  if (given === undefined || given === '') errors.add(`${field}.type`, required(`${field}.type`))
  const type = given === '' ? null : readChoice(errors, `${field}.type`, given, ASSERTION_TYPES)
  if (type === null) return null
  const at = `${field}.value`
  const value = item['value'] ?? undefined
  if (type === 'body_contains') {
    const text = readRequiredText(errors, at, value, ASSERTION_TEXT_CHARACTERS_MAX)
    return text === null ? null : { type, value: text }
  }
  const [min, max] =
    type === 'status_code_equals' ? [STATUS_MIN, STATUS_MAX] : [1, TIMEOUT_SECONDS_MAX * 1000]
  if (value === undefined || value === '') errors.add(at, required(at))
  const number = value === '' ? null : readInteger(errors, at, fromDigits(value), min, max)
  return number === null ? null : { type, value: number }
}

/** A number may be given as a string of digits (decisions, queue settings). */
function fromDigits(value: unknown): unknown {
  return typeof value === 'string' && /^[0-9]{1,9}$/.test(value) ? Number(value) : value
}
