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
  /** Times are by the holder's clock. They are for people, and never compared with ours. */
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
  /** Reads from the API server, not a cache; null = there is no Lease. */
  get(signal: AbortSignal): Promise<Lease | null>
  /** Throws `conflict` when the Lease exists by now. */
  create(spec: LeaseSpec, signal: AbortSignal): Promise<Lease>
  /**
   * Throws `conflict` when anyone has written since, `not_found` when the Lease was deleted. Fields unknown to us are
   * kept.
   */
  update(lease: Lease, spec: LeaseSpec, signal: AbortSignal): Promise<Lease>
}

/** Sends urgent requests, which wait behind nothing else that this process asks of the API server. */
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
