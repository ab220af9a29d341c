import { impossibleAssertionIn } from '../../resources/assertion-spec.ts'
import type { AssertionSpec } from '../../resources/generated/kinds.ts'
import { problemText } from './spec-check.ts'

/** The condition for what the API answers with a warning: the settings are applied, and no call can ever meet them. */
export function canSucceed({ successAssertions }: { readonly successAssertions: readonly AssertionSpec[] }) {
  const problem = impossibleAssertionIn(successAssertions)
  if (problem === null) return []
  const reason = 'AssertionNeverHolds'
  return [{ type: 'CanSucceed', status: 'False', reason, message: problemText(problem) }] as const
}
