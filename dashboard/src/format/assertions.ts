import type { SuccessAssertion } from '../../../clients/typescript/src/client.ts'
import { formatDuration } from './times.ts'

/** A condition as it is edited. */
export interface AssertionDraft {
  readonly type: SuccessAssertion['type']
  readonly value: string
}

/** What an answer must be, in words. */
export function assertionText({ type, value }: SuccessAssertion): string {
  if (type === 'status_code_equals') return `the status is ${value}`
  return type === 'body_contains'
    ? `the body contains “${value}”`
    : `it takes less than ${formatDuration(value)}`
}

/** When an attempt counts as a success, of a setting. */
export function successText(assertions: readonly SuccessAssertion[]): string {
  if (assertions.length === 0) return 'The status is 2xx'
  return `The status is 2xx, ${assertions.map(assertionText).join(', and ')}`
}

export function assertionDrafts(assertions: readonly SuccessAssertion[]): readonly AssertionDraft[] {
  return assertions.map(({ type, value }) => ({ type, value: String(value) }))
}
