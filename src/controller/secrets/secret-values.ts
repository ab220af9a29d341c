import { reasonOf, ResourceApiError } from '../../domain/errors.ts'
import { isSecretFor, notForText, type SecretUse } from '../../domain/secrets/secret-use.ts'
import type { SecretReader } from '../../ports/kubernetes.ts'
import type { OwnSecretsReason, SecretReason } from '../../resources/conditions.ts'
import type { SecretRef } from '../../resources/generated/kinds.ts'

/** Says why a Secret cannot be used. Never contains its value. */
export interface SecretProblem<Reason extends OwnSecretsReason = SecretReason> {
  readonly reason: Reason
  readonly message: string
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

  #readOnce(name: string): ReturnType<SecretReader['read']> {
    const read = this.#read.get(name) ?? this.#reader.read(this.#namespace, name)
    this.#read.set(name, read)
    return read
  }
}
