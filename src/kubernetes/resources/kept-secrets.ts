import { StartupError, isFault } from '../../domain/errors.ts'
import type { ResourceWriter } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'

/** A Secret with one random value that an installation keeps for good. */
export interface KeptSecret {
  readonly name: string
  readonly key: string
  readonly makeValue: () => string
  /** What to do about a Secret that lacks the key, as sentences. */
  readonly advice: string
}

interface SecretObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

interface KeptSecretsOptions {
  readonly namespace: string
  readonly writer: Pick<ResourceWriter<SecretObject>, 'read' | 'create'>
}

/**
 * The label of the release is left out, because Argo CD counts what bears it as part of the application, and would
 * prune it.
 */
const LABELS = { 'app.kubernetes.io/name': 'punctual', 'app.kubernetes.io/managed-by': 'punctual' }

/**
 * Makes the Secrets that do not exist, and changes none. Several processes may do so at once, as the API server accepts
 * one.
 * @returns the names of those that were made
 * @throws StartupError when one exists without its key; ResourceApiError
 */
export async function keepSecrets(
  secrets: readonly KeptSecret[],
  options: KeptSecretsOptions,
): Promise<readonly string[]> {
  const made: string[] = []
  for (const secret of secrets) {
    if (await keepSecret(secret, options)) made.push(secret.name)
  }
  return made
}

async function keepSecret(secret: KeptSecret, { namespace, writer }: KeptSecretsOptions): Promise<boolean> {
  const { name, key, makeValue } = secret
  const before = await writer.read(namespace, name)
  if (before !== null) {
    requireKey(before, secret)
    return false
  }
  const metadata = { name, namespace, labels: LABELS }
  try {
    await writer.create({ metadata, stringData: { [key]: makeValue() } })
    return true
  } catch (error) {
    if (!isFault(error, 'conflict')) throw error
    requireKey(await writer.read(namespace, name), secret)
    return false
  }
}

function requireKey(found: SecretObject | null, { key, advice }: KeptSecret): void {
  if (found === null || (found.data?.[key] ?? '') !== '') return
  const { namespace, name } = found.metadata
  throw new StartupError(`The Secret ${namespace}/${name} has no value for the key ${key}. ${advice}`)
}
