import { reasonOf, ResourceApiError } from '../../domain/errors.ts'
import { isSecretFor, notForText, type SecretUse } from '../../domain/secrets/secret-use.ts'
import {
  annotateCommand,
  SECRET_HOSTS_ANNOTATION,
  type SecretHosts,
  secretHostsOf,
} from '../../domain/secrets/secret-hosts.ts'
import type { SecretReader } from '../../ports/kubernetes.ts'
import type { OwnSecretsReason, SecretReason } from '../../resources/conditions.ts'
import type { SecretRef } from '../../resources/generated/kinds.ts'
import { headerTextOf } from '../../resources/secret-data.ts'

/** Says why a Secret cannot be used. Never contains its value. */
export interface SecretProblem<Reason extends OwnSecretsReason = SecretReason> {
  readonly reason: Reason
  readonly message: string
}

export interface HeaderValue {
  readonly text: string
  readonly hosts: SecretHosts
}

function notUsable(message: string): SecretProblem {
  return { reason: 'SecretNotUsable', message }
}

/** Reads values of the Secrets of a namespace, each Secret once. Throws ResourceApiError. */
export class SecretValues {
  readonly #reader: SecretReader
  readonly #namespace: string
  readonly #read = new Map<string, ReturnType<SecretReader['read']>>()

  constructor(reader: SecretReader, namespace: string) {
    this.#reader = reader
    this.#namespace = namespace
  }

  /** @param use what the Secret must be for; null = anything */
  async get({ name, key }: SecretRef, use: SecretUse | null): Promise<Uint8Array | SecretProblem> {
    let secret
    try {
      secret = await this.#readOnce(name)
    } catch (error) {
      if (!(error instanceof ResourceApiError) || error.fault !== 'forbidden') throw error
      return {
        reason: 'SecretForbidden',
        message: `The controller is not allowed to read Secret ${name}: ${reasonOf(error)}.`,
      }
    }
    if (secret === null) {
      return { reason: 'SecretNotFound', message: `There is no Secret ${name} in ${this.#namespace}.` }
    }
    if (use !== null && !isSecretFor(use, secret)) {
      return { reason: 'SecretNotUsable', message: `Secret ${name} ${notForText(use)}` }
    }
    return secret.data[key] ?? { reason: 'SecretKeyNotFound', message: `Secret ${name} has no key ${key}.` }
  }

  /**
   * Reads the value of a header, and where its Secret lets it go.
   * @param wanted hosts that are suggested where the Secret names none, not empty
   */
  async header(ref: SecretRef, wanted: readonly string[]): Promise<HeaderValue | SecretProblem> {
    const bytes = await this.get(ref, 'header')
    if (!(bytes instanceof Uint8Array)) return bytes
    const secret = { namespace: this.#namespace, name: ref.name }
    const hosts = secretHostsOf((await this.#readOnce(ref.name))?.annotations ?? {})
    if (hosts === null) {
      return notUsable(
        `Secret ${ref.name} does not say where its values may go. Its owner does: ${annotateCommand(secret, wanted)}`,
      )
    }
    if (hosts !== 'any' && 'problem' in hosts) {
      return notUsable(`Annotation ${SECRET_HOSTS_ANNOTATION} of Secret ${ref.name} ${hosts.problem}`)
    }
    const read = headerTextOf(bytes)
    return 'text' in read
      ? { text: read.text, hosts }
      : notUsable(`Key ${ref.key} of Secret ${ref.name} ${read.reason}`)
  }

  #readOnce(name: string): ReturnType<SecretReader['read']> {
    const read = this.#read.get(name) ?? this.#reader.read(this.#namespace, name)
    this.#read.set(name, read)
    return read
  }
}
