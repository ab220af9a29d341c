import { isFault } from '../../domain/errors.ts'
import type { NamespaceReader } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import type { Transport } from '../client/transport.ts'

/** Needs the right to get the namespaces that are asked for, which a Role in each of them can give. */
export function createNamespaceReader(
  transport: Pick<Transport, 'request'>,
  signal?: AbortSignal,
): NamespaceReader {
  return {
    read: async (name) => {
      const path = `/api/v1/namespaces/${encodeURIComponent(name)}`
      try {
        const { metadata } = await transport.request<KubeObject>({
          method: 'GET',
          path,
          ...(signal === undefined ? {} : { signal }),
        })
        return { kind: 'found', uid: metadata.uid }
      } catch (error) {
        if (isFault(error, 'not_found')) return { kind: 'missing' }
        if (isFault(error, 'forbidden')) return { kind: 'unreadable' }
        throw error
      }
    },
  }
}
