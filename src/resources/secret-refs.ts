import type { SecretKeyRef } from '../domain/access/signing-secret.ts'
import { secretValueIn } from '../domain/secrets/secret-values.ts'
import type { SecretRef } from './generated/kinds.ts'

/** Lists the signing secrets that a queue or cron names, newest first. */
export function signingRefsOf(spec: {
  readonly signing?: { readonly secretRefs: readonly SecretRef[] }
}): readonly SecretRef[] {
  return spec.signing?.secretRefs ?? []
}

/** A header secret as its resource describes it. */
export interface HeaderSecretPlan {
  readonly name: string
  readonly secretKeyRef: SecretRef
  readonly hosts: readonly string[]
}

/** Lists the header secrets of a team. */
export function headerSecretPlansOf(spec: {
  readonly headerSecrets: readonly HeaderSecretPlan[]
}): readonly HeaderSecretPlan[] {
  return spec.headerSecrets.map(({ name, secretKeyRef, hosts }) => ({ name, secretKeyRef, hosts }))
}

/** Lists the team's names of further secret headers, in lower case; none while the definitions are of an older version. */
export function maskedHeadersOf(spec: { readonly maskedHeaders?: readonly string[] }): readonly string[] {
  return (spec.maskedHeaders ?? []).map((name) => name.toLowerCase())
}

/** Names the field of a header secret's Secret in problems and conditions. */
export function headerSecretFieldOf(index: number): string {
  return `spec.headerSecrets[${index}].secretKeyRef`
}

/** Makes the fields of a spec that name these signing secrets; without any, there are no such fields. */
export function specOfSigningRefs(refs: readonly SecretKeyRef[]): {
  readonly signing?: { readonly secretRefs: readonly SecretKeyRef[] }
} {
  return refs.length === 0 ? {} : { signing: { secretRefs: refs } }
}

/** A header whose value lies in a Secret. */
export interface HeaderRef {
  /** The header's name in lower case. */
  readonly header: string
  readonly ref: SecretRef
}

export function headerRefsOf(headers: Readonly<Record<string, string>>): readonly HeaderRef[] {
  return Object.entries(headers).flatMap(([name, text]) => {
    const from = secretValueIn(text)
    return from === null ? [] : [{ header: name.toLowerCase(), ref: { name: from.secret, key: from.key } }]
  })
}
