import type { SecretRef } from '../../resources/generated/kinds.ts'
import { signingSecretOf } from '../../resources/secret-data.ts'
import type { SecretProblem, SecretValues } from './secret-values.ts'

export type SigningSecrets =
  | { readonly kind: 'found'; readonly texts: readonly string[] }
  | ({ readonly kind: 'problem' } & SecretProblem)

/** Reads the Secrets in order and stops at the first that cannot be used. Throws ResourceApiError. */
export async function readSigningSecrets(
  secrets: SecretValues,
  refs: readonly SecretRef[],
): Promise<SigningSecrets> {
  const texts: string[] = []
  for (const ref of refs) {
    const bytes = await secrets.get(ref, 'signing')
    if (!(bytes instanceof Uint8Array)) return { kind: 'problem', ...bytes }
    const read = signingSecretOf(bytes)
    if (!('text' in read)) {
      const message = `Key ${ref.key} of Secret ${ref.name} ${read.reason}`
      return { kind: 'problem', reason: 'SecretNotUsable', message }
    }
    texts.push(read.text)
  }
  return { kind: 'found', texts }
}
