import { reasonOf } from '../../domain/errors.ts'
import { excerpt } from '../../domain/excerpt.ts'
import { mergeConditions } from '../../resources/conditions.ts'
import type { Condition } from '../../resources/generated/kinds.ts'
import type { ConditionedObject } from '../kinds.ts'

/** Only these conditions are replaced. All others tell of what was applied earlier, and stay. */
const REPLACED: ReadonlySet<string> = new Set(['Ready', 'Reconciling', 'Stalled'])
/** This length leaves room for what else the message says. */
const REASON_CHARACTERS_MAX = 512

/**
 * The status of a resource over which our own code threw. Every kind has it, and none computes it, because the
 * computation may be what threw. It is stalled although it is tried again, as time alone is not likely to help.
 */
export function failedStatus(
  { metadata, status }: ConditionedObject,
  error: unknown,
  wallMs: number,
): { readonly observedGeneration: number; readonly conditions: readonly Condition[] } {
  const generation = metadata.generation ?? 0
  const former = status?.conditions ?? []
  const message = `The controller cannot apply this resource: ${thrownText(error)}. Settings applied earlier stay. It is tried again after growing pauses, and at once when it changes.`
  const failed = mergeConditions<'ApiToken'>(
    former,
    [
      { type: 'Ready', status: 'False', reason: 'ReconcileError', message },
      { type: 'Stalled', status: 'True', reason: 'ReconcileError', message },
    ],
    { generation, wallMs },
  )
  const kept = former.filter(({ type }) => !REPLACED.has(type))
  const conditions = [...kept, ...failed].toSorted((a, b) => (a.type < b.type ? -1 : 1))
  return { ...status, observedGeneration: generation, conditions }
}

function thrownText(error: unknown): string {
  const name = error instanceof Error ? `${error.name}: ` : ''
  return excerpt(`${name}${reasonOf(error)}`, REASON_CHARACTERS_MAX).replace(/\.$/, '')
}
