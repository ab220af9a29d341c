import { randomBytes } from 'node:crypto'
import { reasonOf, ResourceApiError, RoleEndedError } from '../domain/errors.ts'
import { keepSecrets, type KeptSecret } from '../kubernetes/resources/kept-secrets.ts'
import { ApiResourceWriter } from '../kubernetes/resources/resource-writer.ts'
import { SECRETS } from '../kubernetes/resources/secret-reader.ts'
import type { SecretEntry } from '../settings/tables/prepare-table.ts'
import type { PrepareSettings } from '../settings/role-settings.ts'
import { makeToken } from '../standalone/token.ts'
import { createLogger } from '../telemetry/logger.ts'
import { openBriefTransport } from './parts/cluster-part.ts'

const SECRETS_KEY_BYTES = 32
const PASSWORD_BYTES = 24

/**
 * Makes the Secrets of the installation that are not there, before the controller starts: rendered manifests hold
 * nothing random, so whoever renders them twice gets the same.
 */
export async function runPrepare(settings: PrepareSettings): Promise<void> {
  const logger = createLogger({ level: settings.logLevel, format: settings.logFormat })
  const transport = await openBriefTransport()
  const writer = new ApiResourceWriter({ transport, kind: SECRETS, fieldManager: 'punctual-controller' })
  const { podNamespace: namespace } = settings
  try {
    const made = await keepSecrets(wantedSecrets(settings), { namespace, writer })
    for (const name of made) logger.info('A Secret was made', { namespace, name })
  } catch (error) {
    if (!(error instanceof ResourceApiError)) throw error
    throw new RoleEndedError(`The Secrets of ${namespace} could not be made: ${reasonOf(error)}`, {
      cause: error,
    })
  } finally {
    await transport.close()
  }
}

function wantedSecrets(settings: PrepareSettings) {
  const { makeToken: token, makeSecretsKey, makeRedisPassword } = settings
  const { makeRedisApiPassword, makeRedisExecutorPassword } = settings
  const ofUser = {
    makeValue: newPassword,
    advice: 'Add one, or delete the Secret, and another is made; then restart the pods of that role.',
  }
  return [
    ...wanted(token, { makeValue: makeToken, advice: 'Add one, or delete the Secret, and another is made.' }),
    ...wanted(makeSecretsKey, {
      makeValue: () => randomBytes(SECRETS_KEY_BYTES).toString('base64'),
      advice:
        'Put back the one that secrets in Redis are sealed under. Do not delete the Secret: under another key the controller has to read the Secrets of all teams again, and calls that need one that is gone are not made.',
    }),
    // Before the password that Redis waits for: in a new installation it starts with its users.
    ...wanted(makeRedisApiPassword, ofUser),
    ...wanted(makeRedisExecutorPassword, ofUser),
    ...wanted(makeRedisPassword, {
      makeValue: newPassword,
      advice: 'Add the one that Redis has, or delete the Secret, and another is made; then restart Redis.',
    }),
  ]
}

function newPassword(): string {
  return randomBytes(PASSWORD_BYTES).toString('hex')
}

function wanted(entry: SecretEntry | null, value: Pick<KeptSecret, 'makeValue' | 'advice'>): KeptSecret[] {
  return entry === null ? [] : [{ ...entry, ...value }]
}
