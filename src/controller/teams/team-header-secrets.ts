import type { HeaderSecret } from '../../domain/secrets/header-secret.ts'
import { withinSecretHosts } from '../../domain/secrets/secret-hosts.ts'
import { headerSecretFieldOf, type HeaderSecretPlan } from '../../resources/secret-refs.ts'
import type { SecretProblem, SecretValues } from '../secrets/secret-values.ts'

/**
 * Reads the header secrets of a team. Each may go to the hosts that both its spec and its Secret name. One whose Secret
 * cannot be used has no value, so that calls that name it fail and say so, and nothing else is held up. A problem names
 * field and header secret. Throws ResourceApiError.
 */
export async function readHeaderSecrets(
  secrets: SecretValues,
  plans: readonly HeaderSecretPlan[],
): Promise<{ readonly headerSecrets: readonly HeaderSecret[]; readonly problems: readonly SecretProblem[] }> {
  const headerSecrets: HeaderSecret[] = []
  const problems: SecretProblem[] = []
  for (const [index, { name, hosts: wanted, secretKeyRef: ref }] of plans.entries()) {
    const field = headerSecretFieldOf(index)
    const read = await secrets.header(ref, wanted)
    const report = ({ reason, message }: SecretProblem) =>
      problems.push({ reason, message: `${field} (header secret ${name}): ${message}` })
    if (!('text' in read)) {
      headerSecrets.push({ name, hosts: wanted, value: null })
      report(read)
      continue
    }
    const { hosts, problem } = withinSecretHosts(wanted, read.hosts, ref.name)
    headerSecrets.push({ name, hosts, value: hosts.length === 0 ? null : read.text })
    if (problem !== null) report({ reason: 'SecretNotUsable', message: problem })
  }
  return { headerSecrets, problems }
}
