import { impossibleAssertions, type SuccessAssertion } from '../../domain/jobs/assertion.ts'
import {
  ASSERTION_TEXT_CHARACTERS_MAX,
  SUCCESS_ASSERTIONS_MAX,
  TIMEOUT_SECONDS_MAX,
} from '../../domain/limits.ts'
import { type FieldReader, isJsonObject, MappedFields } from './field-reader.ts'
import { refuseUnknownFields } from './unknown-fields.ts'
import { mustBeArray, mustBeObject, mustNotHaveMoreItems, required } from './validation-texts.ts'

const ASSERTION_TYPES = ['status_code_equals', 'body_contains', 'response_time_under_ms'] as const
const ASSERTION_FIELDS: ReadonlySet<string> = new Set(['type', 'value'])
const STATUS_MIN = 100
const STATUS_MAX = 599

/** Names assertions that are stored but can never pass. */
export function assertionWarnings(assertions: readonly SuccessAssertion[]): string[] {
  return impossibleAssertions(assertions).map(({ index, why }) => `success_assertions.${index}: ${why}`)
}

export function readAssertions(fields: FieldReader): SuccessAssertion[] | null {
  const field = 'success_assertions'
  const value = fields.value(field)
  if (value === undefined) return null
  if (!Array.isArray(value)) return fields.refuse(field, mustBeArray)
  if (value.length > SUCCESS_ASSERTIONS_MAX) {
    return fields.refuse(field, (path) => mustNotHaveMoreItems(path, SUCCESS_ASSERTIONS_MAX))
  }
  const items: readonly unknown[] = value
  return items.flatMap((item, index) => readAssertion(fields, `${field}.${index}`, item) ?? [])
}

function readAssertion(fields: FieldReader, path: string, item: unknown): SuccessAssertion | null {
  if (!isJsonObject(item)) return fields.refuse(path, mustBeObject)
  const { errors } = fields
  const prefix = `${path}.`
  const isText = item['type'] === 'body_contains'
  const valueOf = (field: string): unknown => {
    const value = item[field] ?? undefined
    // A number may also be given as a string of digits.
    return field === 'value' && !isText && typeof value === 'string' && /^[0-9]{1,9}$/.test(value)
      ? Number(value)
      : value
  }
  const assertion = readTypedValue(new MappedFields(errors, valueOf, prefix))
  refuseUnknownFields(errors, { names: Object.keys(item), known: ASSERTION_FIELDS, prefix })
  return assertion
}

function readTypedValue(item: FieldReader): SuccessAssertion | null {
  const given = item.value('type')
  if (given === undefined || given === '') return item.refuse('type', required)
  const type = item.choice('type', ASSERTION_TYPES)
  if (type === null) return null
  if (type === 'body_contains') {
    const text = item.requiredText('value', ASSERTION_TEXT_CHARACTERS_MAX)
    return text === null ? null : { type, value: text }
  }
  const value = item.value('value')
  if (value === undefined || value === '') return item.refuse('value', required)
  const [min, max] =
    type === 'status_code_equals' ? [STATUS_MIN, STATUS_MAX] : [1, TIMEOUT_SECONDS_MAX * 1000]
  const number = item.integer('value', min, max)
  return number === null ? null : { type, value: number }
}
