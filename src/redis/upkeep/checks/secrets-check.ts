import type { CheckResult, HealthFinding } from '../../../ports/health.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { decodeTeam, isDescription } from '../../control/compiled/stored-settings.ts'
import { readFieldNames } from '../../base/engine/paged-reads.ts'
import { SEALED_HASHES, type SealedHash } from '../../control/compiler/reseal.ts'
import { TEAMS_KEY } from '../../base/layout/keys.ts'
import type { SecretBox } from '../../base/secret-box.ts'

interface Entry {
  readonly field: string
  readonly value: string
}

/** Opens the secrets of every team, queue and cron, one after the other. */
export async function checkSecrets(engine: Engine, box: SecretBox): Promise<CheckResult> {
  const findings: HealthFinding[] = []
  const counts: string[] = []
  for (const sealed of SEALED_HASHES) {
    const fields = (await readFieldNames(engine, sealed.hash)).filter((field) => !isDescription(field))
    counts.push(sealed.counted(fields.length))
    for (const field of fields) {
      const value = await engine.runner.read((redis) => redis.hget(sealed.hash, field))
      if (value === null) continue
      const entry = { field, value }
      const found =
        problemOf(sealed, box, entry) ?? (sealed.hash === TEAMS_KEY ? withoutValues(box, entry) : null)
      if (found !== null) findings.push(found)
    }
  }
  return { summary: counts.join(', '), findings }
}

/** Header secrets whose Secret the controller could not use, of a team whose secrets open. */
function withoutValues(box: SecretBox, { field: team, value }: Entry): HealthFinding | null {
  const { headerSecrets } = decodeTeam(box, team, value)
  const names = headerSecrets.flatMap((secret) => (secret.value === null ? [secret.name] : []))
  if (names.length === 0) return null
  return {
    severity: 'warning',
    subject: `team ${team}`,
    message: `These header secrets have no value, so calls that name them fail: ${names.join(', ')}.`,
    advice:
      'Look at the condition HeaderSecretsReady of its TeamSettings, or at the log of the folder: it names the Secret and what to do.',
  }
}

function problemOf(
  { sealedAnew, nameOf }: SealedHash,
  box: SecretBox,
  { field, value }: Entry,
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
