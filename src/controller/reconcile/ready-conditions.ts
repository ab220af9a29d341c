import {
  mergeConditions,
  type OwnSecretsReason,
  type ReconciledKind,
  type WantedCondition,
} from '../../resources/conditions.ts'
import type { Condition } from '../../resources/generated/kinds.ts'
import type { SecretProblem } from '../secrets/secret-values.ts'
import type { ConditionedObject } from '../kinds.ts'

/** Redis is away or refuses writes, so the reconcile is retried. Every kind reports it alike. */
export interface Unavailable {
  readonly kind: 'unavailable'
  readonly message: string
}

export const RECONCILED = {
  type: 'Ready',
  status: 'True',
  reason: 'Reconciled',
  message: 'The settings are applied.',
} as const

/** A terminal outcome: nothing is retried until the spec changes. */
export function invalidSpec(message: string) {
  return [
    { type: 'Ready', status: 'False', reason: 'InvalidSpec', message },
    { type: 'Stalled', status: 'True', reason: 'InvalidSpec', message },
  ] as const
}

/** The resource is tried again when the Secrets are read again. */
export function secretProblem<Reason extends OwnSecretsReason>({ reason, message }: SecretProblem<Reason>) {
  return {
    type: 'Ready',
    status: 'False',
    reason,
    message: `${message} Settings applied earlier stay.`,
  } as const
}

export function retrying(message: string) {
  return { type: 'Reconciling', status: 'True', reason: 'ProgressingWithRetry', message } as const
}

export function unavailable({ message }: Unavailable) {
  return [
    { type: 'Ready', status: 'Unknown', reason: 'BackendUnavailable', message },
    retrying(message),
  ] as const
}

/** The fields of every status: the generation that was reconciled and the merged conditions. */
export function reconciledStatus<Kind extends ReconciledKind>(
  { metadata, status }: ConditionedObject,
  wanted: ReadonlyArray<WantedCondition<Kind>>,
  wallMs: number,
): { readonly observedGeneration: number; readonly conditions: readonly Condition[] } {
  const generation = metadata.generation ?? 0
  const conditions = mergeConditions<Kind>(status?.conditions ?? [], wanted, { generation, wallMs })
  return { observedGeneration: generation, conditions }
}
