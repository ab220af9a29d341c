import { reasonOf, ResourceApiError } from '../../domain/errors.ts'
import type { SecretReader } from '../../ports/kubernetes.ts'
import type { ReasonsOf } from '../../resources/conditions.ts'
import type { SecretRef } from '../../resources/generated/kinds.ts'

/** Why a Secret cannot be used. Never contains its value. */
export interface SecretProblem {
  readonly reason: Extract<ReasonsOf['TeamSettings']['Ready'], `Secret${string}`>
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

  async get({ name, key }: SecretRef): Promise<Uint8Array | SecretProblem> {
    let data
    try {
      data = await this.#readOnce(name)
    } catch (error) {
      if (!(error instanceof ResourceApiError) || error.fault !== 'forbidden') throw error
      return {
        reason: 'SecretForbidden',
        message: `The controller is not allowed to read Secret ${name}: ${reasonOf(error)}.`,
      }
    }
    if (data === null) {
      return { reason: 'SecretNotFound', message: `There is no Secret ${name} in ${this.#namespace}.` }
    }
    return data[key] ?? { reason: 'SecretKeyNotFound', message: `Secret ${name} has no key ${key}.` }
  }

  #readOnce(name: string): ReturnType<SecretReader['read']> {
    const read = this.#read.get(name) ?? this.#reader.read(this.#namespace, name)
    this.#read.set(name, read)
    return read
  }
}
