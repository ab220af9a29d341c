import type { Condition } from '../../resources/generated/kinds.ts'

/** What a status shows of the newest failure. */
export interface ShownFailure {
  readonly time: string
  readonly reason: string
}

/**
 * As long as nothing is known the condition stays as it is, because its absence would pass for the end of the trouble.
 */
export function formerFailing(
  conditions: readonly Condition[] | undefined,
): ReadonlyArray<Pick<Condition, 'type' | 'status' | 'reason' | 'message'>> {
  const former = failingIn(conditions)
  return former === undefined ? [] : [former]
}

export function failingIn(conditions: readonly Condition[] | undefined): Condition | undefined {
  return conditions?.find(({ type }) => type === 'Failing')
}
