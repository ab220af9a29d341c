import { isFault } from '../client/api-errors.ts'
import type { Transport } from '../client/transport.ts'

/** `spec` of a Lease of coordination.k8s.io/v1. */
export interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  /** Times are of the holder's clock: for people, never to be compared with ours. */
  readonly acquireTime?: string
  readonly renewTime?: string
  readonly leaseTransitions?: number
}

export interface Lease {
  readonly metadata: { readonly resourceVersion: string }
  readonly spec?: LeaseSpec
}

/** One Lease, named when this was made. Every method throws ResourceApiError. */
export interface LeaseLock {
  /** As it stands now, from no cache; null when there is none. */
  read(signal: AbortSignal): Promise<Lease | null>
  /** `conflict` when there is one by now. */
  create(spec: LeaseSpec, signal: AbortSignal): Promise<Lease>
  /** `conflict` when anyone has written since, `not_found` when it is gone. Fields that we do not know stay. */
  replace(lease: Lease, spec: LeaseSpec, signal: AbortSignal): Promise<Lease>
}

export interface LeasePlace {
  readonly namespace: string
  readonly name: string
}

/** A Lease waits behind nothing else that this process asks of the API server. */
export function createLeaseStore(transport: Transport, { namespace, name }: LeasePlace): LeaseLock {
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
  const path = `${leases}/${name}`
  return {
    read: async (signal) => {
      try {
        return await transport.request<Lease>({ method: 'GET', path, signal, isUrgent: true })
      } catch (error) {
        if (isFault(error, 'not_found')) return null
        throw error
      }
    },
    create: (spec, signal) => {
      const body = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { namespace, name },
        spec,
      }
      return transport.request<Lease>({ method: 'POST', path: leases, body, signal, isUrgent: true })
    },
    replace: (lease, spec, signal) => {
      const body = { ...lease, spec: { ...lease.spec, ...spec } }
      return transport.request<Lease>({ method: 'PUT', path, body, signal, isUrgent: true })
    },
  }
}
