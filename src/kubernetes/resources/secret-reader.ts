import type { SecretReader } from '../../ports/kubernetes.ts'
import { ignoreNotFound } from '../client/api-errors.ts'
import { objectPath, type ResourceKind } from '../client/resource-path.ts'
import type { Transport } from '../client/transport.ts'

export const SECRETS: ResourceKind = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' }

interface SecretObject {
  readonly type?: string
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly data?: Readonly<Record<string, string>>
}

/** Needs the right to get Secrets by name, not to list or watch them. */
export function createSecretReader(transport: Transport): SecretReader {
  return {
    read: async (namespace, name) => {
      const path = objectPath(SECRETS, { namespace, name })
      const secret = await ignoreNotFound(transport.request<SecretObject>({ method: 'GET', path }))
      if (secret === null) return null
      // Users choose the keys: `constructor` may be one.
      const values: Record<string, Uint8Array> = Object.create(null)
      for (const [key, text] of Object.entries(secret.data ?? {})) values[key] = Buffer.from(text, 'base64')
      const { type = '', metadata } = secret
      return { data: values, type, labels: metadata?.labels ?? {}, annotations: metadata?.annotations ?? {} }
    },
  }
}
