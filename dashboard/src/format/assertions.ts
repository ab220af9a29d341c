/** Conditions on an answer as they are typed: `type: value`, one a line. */
import type { SuccessAssertion } from '../../../clients/typescript/src/client.ts'

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
  const told = assertions.map(({ type, value }) =>
    type === 'status_code_equals'
      ? `status ${value}`
      : type === 'body_contains'
        ? `“${value}” in the body`
        : `less than ${value} ms`,
  )
  return ['Status 2xx', ...told].join(', ')
}
