import type { SecretPlace } from '../domain/access/signing-secret.ts'
import { secretValueIn } from '../domain/secrets/secret-values.ts'
import type { SecretRef } from './generated/kinds.ts'

/** The signing secrets that a queue or cron names, newest first. A definition of before them has no such field. */
export function signingRefsOf(spec: {
  readonly signing?: { readonly secretRefs: readonly SecretRef[] }
}): readonly SecretRef[] {
  return spec.signing?.secretRefs ?? []
}

/** A header secret as it is written. */
export interface HeaderSecretPlan {
  readonly name: string
  readonly secretKeyRef: SecretRef
  readonly hosts: readonly string[]
}

/** Those of a team. A definition of before them has no such field. */
export function headerSecretPlansOf(spec: {
  readonly headerSecrets?: readonly HeaderSecretPlan[]
}): readonly HeaderSecretPlan[] {
  return (spec.headerSecrets ?? []).map(({ name, secretKeyRef, hosts }) => ({ name, secretKeyRef, hosts }))
}

/** The field of a header secret's Secret, as problems and conditions name it. */
export function headerSecretFieldOf(index: number): string {
  return `spec.headerSecrets[${index}].secretKeyRef`
}

/** The fields of a spec that name these signing secrets; none where there are none. */
export function specOfSigningRefs(refs: readonly SecretPlace[]): {
  readonly signing?: { readonly secretRefs: readonly SecretPlace[] }
} {
  return refs.length === 0 ? {} : { signing: { secretRefs: refs } }
}

/** A header whose value lies in a Secret. */
export interface HeaderRef {
  /** In lower case. */
  readonly header: string
  readonly ref: SecretRef
}

export function headerRefsOf(headers: Readonly<Record<string, string>>): readonly HeaderRef[] {
  return Object.entries(headers).flatMap(([name, text]) => {
    const from = secretValueIn(text)
    return from === null ? [] : [{ header: name.toLowerCase(), ref: { name: from.secret, key: from.key } }]
  })
}
