/** Conditions on an answer as they are typed: `type: value`, one a line. */
import type { SuccessAssertion } from '../../../../clients/typescript/src/client.ts'

/** The server judges both type and value. */
export function assertionsIn(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, type = '', value = ''] = /^([^:]*):?(.*)$/s.exec(line) ?? []
      const trimmed = value.trim()
      return {
        type: type.trim(),
        value: /^\d{1,15}$/.test(trimmed) && type.trim() !== 'body_contains' ? Number(trimmed) : trimmed,
      }
    })
}

export function assertionLines(assertions: readonly SuccessAssertion[]): string {
  return assertions.map(({ type, value }) => `${type}: ${value}`).join('\n')
}

/** What an answer must be to count as a success, in words. */
export function successText(assertions: readonly SuccessAssertion[]): string {
  return ['Status 2xx', ...assertions.map(told)].join(', ')
}

function told(assertion: SuccessAssertion): string {
  switch (assertion.type) {
    case 'status_code_equals':
      return `status ${assertion.value}`
    case 'body_contains':
      return `“${assertion.value}” in the body`
    case 'response_time_under_ms':
      return `less than ${assertion.value} ms`
    default:
      return unknownAssertion(assertion)
  }
}

/** An assertion of a later API, as it is written. @param assertion none that this page knows is left */
export function unknownAssertion(assertion: never): string {
  return assertionLines([assertion])
}
