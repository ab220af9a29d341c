import { ResourceApiError } from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import type { Clock } from '../../ports/runtime.ts'
import { ignoreNotFound } from '../client/api-errors.ts'
import {
  collectionPath,
  objectPath,
  type NamespacedName,
  type ResourceKind,
} from '../client/resource-path.ts'
import type { Transport } from '../client/transport.ts'

const DEPLOYMENT: ResourceKind = { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' }
const POD: ResourceKind = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' }
const POLL_MS = 500

interface Scale {
  readonly spec?: { readonly replicas?: number }
  readonly status?: { readonly selector?: string }
}

/** Tells whether the Deployment exists and is to have pods. Throws ResourceApiError. */
export async function wantsPods(transport: Transport, place: NamespacedName): Promise<boolean> {
  const path = `${objectPath(DEPLOYMENT, place)}/scale`
  const scale = await ignoreNotFound(transport.request<Scale>({ method: 'GET', path }))
  return (scale?.spec?.replicas ?? 0) > 0
}

/**
 * Scales a Deployment to zero, if it exists, and waits until its pods are gone. Throws ResourceApiError.
 * @param options `untilMs`: when to give up, by the monotonic clock
 */
export async function stopDeployment(
  {
    transport,
    clock,
    untilMs,
  }: { readonly transport: Transport; readonly clock: Clock; readonly untilMs: number },
  place: NamespacedName,
): Promise<void> {
  const path = `${objectPath(DEPLOYMENT, place)}/scale`
  const body = { spec: { replicas: 0 } }
  const scale = await ignoreNotFound(
    transport.request<Scale>({ method: 'PATCH', path, body, patchType: 'merge' }),
  )
  const labelSelector = scale?.status?.selector
  if (labelSelector === undefined) return
  const pods = collectionPath(POD, place.namespace)
  for (;;) {
    const { items } = await transport.request<{ readonly items: readonly unknown[] }>({
      method: 'GET',
      path: pods,
      query: { labelSelector, limit: 1 },
    })
    if (items.length === 0) return
    if (clock.monotonicMs() >= untilMs) {
      throw new ResourceApiError('unavailable', `pods of Deployment ${place.name} still run`)
    }
    await pause(clock, POLL_MS)
  }
}
