import type { ExecutorFleet, FleetState } from '../../ports/kubernetes.ts'
import { ignoreNotFound } from '../client/api-errors.ts'
import { collectionPath, objectPath, type ResourceKind } from '../client/resource-path.ts'
import { OtherScalers, type FleetOptions } from './other-scalers.ts'

/** The scale subresource of a Deployment, autoscaling/v1. */
interface Scale {
  readonly metadata: { readonly uid: string }
  readonly spec?: { readonly replicas?: number }
  readonly status?: { readonly selector?: string }
}

interface Pod {
  readonly metadata: {
    readonly name: string
    readonly deletionTimestamp?: string
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly status?: {
    readonly phase?: string
    readonly conditions?: ReadonlyArray<{ readonly type: string; readonly status: string }>
  }
}

const DEPLOYMENT: ResourceKind = { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' }
const POD: ResourceKind = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' }
/** The ReplicaSet controller deletes pods of the lowest cost first; without the annotation it is 0. */
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost'
const PODS_MAX = 1_000
/** Pods written by one call; the next call writes the rest. */
const COST_WRITES_MAX = 50

/** Scales the executors, which are the pods of one Deployment. */
export class DeploymentFleet implements ExecutorFleet {
  readonly #options: FleetOptions
  readonly #scalers: OtherScalers
  readonly #scalePath: string
  /** The cost of each pod, as last read or written. */
  #costs: Map<string, number> | null = null

  constructor(options: FleetOptions) {
    const { namespace, deployment } = options
    this.#options = options
    this.#scalers = new OtherScalers(options)
    this.#scalePath = `${objectPath(DEPLOYMENT, { namespace, name: deployment })}/scale`
  }

  async read(): Promise<FleetState | null> {
    const scale = await this.#readScale()
    if (scale === null) return null
    const [pods, otherScaler] = await Promise.all([this.#listPods(scale), this.#scalers.find()])
    this.#costs = new Map(pods.map((pod) => [pod.metadata.name, costOf(pod)]))
    const { namespace, deployment } = this.#options
    const { apiVersion, kind } = DEPLOYMENT
    return {
      ref: { apiVersion, kind, namespace, name: deployment, uid: scale.metadata.uid },
      desired: scale.spec?.replicas ?? 0,
      current: pods.length,
      ready: pods.filter(isReady).length,
      otherScaler,
    }
  }

  async scaleTo(replicas: number): Promise<void> {
    await this.#options.transport.request({
      method: 'PATCH',
      path: this.#scalePath,
      body: { spec: { replicas } },
      patchType: 'merge',
    })
  }

  async setDeletionCosts(held: ReadonlyMap<string, number>, signal: AbortSignal): Promise<void> {
    if (this.#costs === null) await this.read()
    const costs = this.#costs ?? new Map<string, number>()
    const changes = [...costs]
      .map(([name, cost]) => ({ name, was: cost, is: costOfCalls(held.get(name) ?? 0) }))
      .filter(({ was, is }) => was !== is)
      .sort((a, b) => Math.abs(b.is - b.was) - Math.abs(a.is - a.was))
    for (const { name, is } of changes.slice(0, COST_WRITES_MAX)) {
      await this.#writeCost(name, is, signal)
      costs.set(name, is)
    }
  }

  #readScale(): Promise<Scale | null> {
    return ignoreNotFound(this.#options.transport.request<Scale>({ method: 'GET', path: this.#scalePath }))
  }

  /** Leaves out pods that are terminating or have ended. */
  async #listPods(scale: Scale): Promise<readonly Pod[]> {
    const labelSelector = scale.status?.selector ?? ''
    // An empty selector would list the whole namespace.
    if (labelSelector === '') return []
    const { items } = await this.#options.transport.request<{ items: readonly Pod[] | null }>({
      method: 'GET',
      path: collectionPath(POD, this.#options.namespace),
      query: { labelSelector, limit: PODS_MAX },
    })
    return (items ?? []).filter(({ metadata, status }) => {
      const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed'
      return metadata.deletionTimestamp === undefined && !hasEnded
    })
  }

  async #writeCost(name: string, cost: number, signal: AbortSignal): Promise<void> {
    const { transport, namespace } = this.#options
    await ignoreNotFound(
      transport.request({
        method: 'PATCH',
        path: objectPath(POD, { namespace, name }),
        body: { metadata: { annotations: { [DELETION_COST]: String(cost) } } },
        patchType: 'merge',
        signal,
      }),
    )
  }
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false
}

function costOf({ metadata }: Pod): number {
  const cost = Number(metadata.annotations?.[DELETION_COST] ?? 0)
  return Number.isSafeInteger(cost) ? cost : 0
}

/** Rounds to powers of two, so that not every call causes a write to its pod. */
function costOfCalls(calls: number): number {
  return calls <= 0 ? 0 : 2 ** Math.floor(Math.log2(calls))
}
