import type { HeaderSecret } from '../../domain/secrets/header-secret.ts'
import type { SecretRef } from '../../resources/generated/kinds.ts'
import { headerTextOf } from '../../resources/secret-data.ts'
import { headerSecretFieldOf, type HeaderSecretPlan } from '../../resources/secret-refs.ts'
import type { SecretProblem, SecretValues } from '../secrets/secret-values.ts'

/**
 * Reads the header secrets of a team. One whose Secret cannot be used has no value, so that calls that name it fail and
 * say so, and nothing else is held up. A problem names field and header secret. Throws ResourceApiError.
 */
export async function readHeaderSecrets(
  secrets: SecretValues,
  plans: readonly HeaderSecretPlan[],
): Promise<{ readonly headerSecrets: readonly HeaderSecret[]; readonly problems: readonly SecretProblem[] }> {
  const headerSecrets: HeaderSecret[] = []
  const problems: SecretProblem[] = []
  for (const [index, { name, hosts, secretKeyRef: ref }] of plans.entries()) {
    const read = await readValue(secrets, ref)
    headerSecrets.push({ name, hosts, value: 'text' in read ? read.text : null })
    if ('text' in read) continue
    const message = `${headerSecretFieldOf(index)} (header secret ${name}): ${read.message}`
    problems.push({ reason: read.reason, message })
  }
  return { headerSecrets, problems }
}

async function readValue(
  secrets: SecretValues,
  ref: SecretRef,
): Promise<{ readonly text: string } | SecretProblem> {
  const bytes = await secrets.get(ref, 'header')
  if (!(bytes instanceof Uint8Array)) return bytes
  const read = headerTextOf(bytes)
  if ('text' in read) return read
  return { reason: 'SecretNotUsable', message: `Key ${ref.key} of Secret ${ref.name} ${read.reason}` }
}
