import { impossibleAssertions, type SuccessAssertion } from '../domain/jobs/assertion.ts'
import type { FieldProblem } from './schema/field-path.ts'
import type { AssertionSpec } from './generated/kinds.ts'

const ASSERTION_TYPES = {
  StatusCodeEquals: 'status_code_equals',
  BodyContains: 'body_contains',
  ResponseTimeUnderMs: 'response_time_under_ms',
} as const

/** The CRD rules guarantee that the value fits the type. */
export function assertionOf({ type, value }: AssertionSpec): SuccessAssertion {
  switch (type) {
    case 'BodyContains':
      return { type: ASSERTION_TYPES[type], value: String(value) }
    case 'StatusCodeEquals':
    case 'ResponseTimeUnderMs':
      return { type: ASSERTION_TYPES[type], value: Number(value) }
  }
}

/** Finds the first assertion of a spec that can never hold. The settings are applied all the same, as by the API. */
export function impossibleAssertionIn(specs: readonly AssertionSpec[]): FieldProblem | null {
  const [first] = impossibleAssertions(specs.map(assertionOf))
  return first === undefined ? null : { path: ['spec', 'successAssertions', first.index], reason: first.why }
}

export function specOfAssertion(assertion: SuccessAssertion): AssertionSpec {
  switch (assertion.type) {
    case 'status_code_equals':
      return { type: 'StatusCodeEquals', value: assertion.value }
    case 'body_contains':
      return { type: 'BodyContains', value: assertion.value }
    case 'response_time_under_ms':
      return { type: 'ResponseTimeUnderMs', value: assertion.value }
  }
}
