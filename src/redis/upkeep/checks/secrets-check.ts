import type { CheckResult, HealthFinding } from '../../../ports/health.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { isDescription } from '../../control/compiled/stored-settings.ts'
import { readFieldNames } from '../../base/engine/paged-reads.ts'
import { SEALED_HASHES, type SealedHash } from '../../control/compiler/reseal.ts'
import type { SecretBox } from '../../base/secret-box.ts'

/** Opens the secrets of every team, queue and cron, one after the other. */
export async function checkSecrets(engine: Engine, box: SecretBox): Promise<CheckResult> {
  const findings: HealthFinding[] = []
  const counts: string[] = []
  for (const sealed of SEALED_HASHES) {
    const fields = (await readFieldNames(engine, sealed.hash)).filter((field) => !isDescription(field))
    counts.push(sealed.counted(fields.length))
    for (const field of fields) {
      const value = await engine.runner.read((redis) => redis.hget(sealed.hash, field))
      const finding = value === null ? null : problemOf(sealed, box, { field, value })
      if (finding !== null) findings.push(finding)
    }
  }
  return { summary: counts.join(', '), findings }
}

function problemOf(
  { sealedAnew, nameOf }: SealedHash,
  box: SecretBox,
  { field, value }: { readonly field: string; readonly value: string },
): HealthFinding | null {
  try {
    if (sealedAnew(box, field, value) === null) return null
    return {
      severity: 'warning',
      subject: nameOf(field),
      message: 'Its secrets are sealed under a former key.',
      advice: 'Keep the former key until the controller has sealed them anew, soon after it begins to lead.',
    }
  } catch (error) {
    const isDamaged = error instanceof SyntaxError
    return {
      severity: 'failed',
      subject: nameOf(field),
      message: isDamaged
        ? 'Its settings cannot be read.'
        : 'Its secrets cannot be opened: they were stored under another key, or damaged.',
      advice: isDamaged
        ? 'Apply its resource again.'
        : 'Set PUNCTUAL_SECRETS_KEY to the key that the roles had when they were stored; without it they are stored again once the controller can read the Secrets that its resource names.',
    }
  }
}
