import { reasonOf, ResourceApiError } from '../../domain/errors.ts'
import type { SecretReader } from '../../ports/kubernetes.ts'
import type { SecretRef } from '../../resources/generated/kinds.ts'
import { signingSecretOf } from '../../resources/secret-data.ts'
import type { SecretReason } from './team-status.ts'

export type SigningSecrets =
  | { readonly kind: 'found'; readonly texts: readonly string[] }
  /** Never contains the value of a Secret. */
  | { readonly kind: 'problem'; readonly reason: SecretReason; readonly message: string }

/** Reads the Secrets in order and stops at the first that cannot be used. Throws ResourceApiError. */
export async function readSigningSecrets(
  reader: SecretReader,
  namespace: string,
  refs: readonly SecretRef[],
): Promise<SigningSecrets> {
  const texts: string[] = []
  for (const ref of refs) {
    const read = await readSecret(reader, namespace, ref)
    if (typeof read !== 'string') return { kind: 'problem', ...read }
    texts.push(read)
  }
  return { kind: 'found', texts }
}

async function readSecret(
  reader: SecretReader,
  namespace: string,
  { name, key }: SecretRef,
): Promise<string | { readonly reason: SecretReason; readonly message: string }> {
  let data
  try {
    data = await reader.read(namespace, name)
  } catch (error) {
    if (!(error instanceof ResourceApiError) || error.fault !== 'forbidden') throw error
    return {
      reason: 'SecretForbidden',
      message: `The controller is not allowed to read Secret ${name}: ${reasonOf(error)}.`,
    }
  }
  if (data === null) {
    return { reason: 'SecretNotFound', message: `There is no Secret ${name} in ${namespace}.` }
  }
  const bytes = data[key]
  if (bytes === undefined) {
    return { reason: 'SecretKeyNotFound', message: `Secret ${name} has no key ${key}.` }
  }
  const read = signingSecretOf(bytes)
  if ('text' in read) return read.text
  return { reason: 'SecretNotUsable', message: `Key ${key} of Secret ${name} ${read.reason}` }
}
