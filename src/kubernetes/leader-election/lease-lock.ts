import { ignoreNotFound } from '../client/api-errors.ts'
import {
  objectPath,
  collectionPath,
  type NamespacedName,
  type ResourceKind,
} from '../client/resource-path.ts'
import type { Transport } from '../client/transport.ts'

export const LEASES: ResourceKind = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases' }

/** `spec` of a Lease of coordination.k8s.io/v1. */
export interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  /** Times are by the holder's clock: for people, never to be compared with ours. */
  readonly acquireTime?: string
  readonly renewTime?: string
  readonly leaseTransitions?: number
}

export interface Lease {
  readonly metadata: { readonly resourceVersion: string }
  readonly spec?: LeaseSpec
}

/** Reads and writes one Lease with optimistic locking. Every method throws ResourceApiError. */
export interface LeaseLock {
  /** From the API server, not a cache; null when there is none. */
  get(signal: AbortSignal): Promise<Lease | null>
  /** `conflict` when it exists by now. */
  create(spec: LeaseSpec, signal: AbortSignal): Promise<Lease>
  /** `conflict` when anyone has written since, `not_found` when it was deleted. Fields unknown to us are kept. */
  update(lease: Lease, spec: LeaseSpec, signal: AbortSignal): Promise<Lease>
}

/** Urgent requests: they wait behind nothing else that this process asks of the API server. */
export function createLeaseLock(transport: Transport, name: NamespacedName): LeaseLock {
  const path = objectPath(LEASES, name)
  return {
    get: (signal) =>
      ignoreNotFound(transport.request<Lease>({ method: 'GET', path, signal, pool: 'urgent' })),
    create: (spec, signal) => {
      const { apiVersion, kind } = LEASES
      const body = { apiVersion, kind, metadata: name, spec }
      const leases = collectionPath(LEASES, name.namespace)
      return transport.request<Lease>({ method: 'POST', path: leases, body, signal, pool: 'urgent' })
    },
    update: (lease, spec, signal) => {
      const body = { ...lease, spec: { ...lease.spec, ...spec } }
      return transport.request<Lease>({ method: 'PUT', path, body, signal, pool: 'urgent' })
    },
  }
}
