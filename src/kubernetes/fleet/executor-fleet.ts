import type { Clock, Logger } from '../../ports/runtime.ts'
import type { ExecutorFleet, FleetState } from '../../ports/kubernetes.ts'
import { isFault } from '../client/api-errors.ts'
import { createOtherScalers, type OtherScalers } from './other-scalers.ts'
import { objectPath, collectionPath, type ResourceKind } from '../client/resource-path.ts'
import type { Transport } from '../client/transport.ts'

export interface ExecutorFleetOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly logger: Logger
  /** The operator's own. */
  readonly namespace: string
  readonly deployment: string
}

/** autoscaling/v1, as a Deployment's scale subresource is read. */
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
/** The ReplicaSet controller deletes pods of the lowest cost first, those without one as if it were 0. */
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost'
const MERGE_PATCH = 'application/merge-patch+json'
const PODS_MAX = 1_000
/** Writes in one round of marks; the rest comes in the next. */
const MARKS_MAX = 50

export function createExecutorFleet(options: ExecutorFleetOptions): ExecutorFleet {
  return new DeployedFleet(options)
}

class DeployedFleet implements ExecutorFleet {
  readonly #options: ExecutorFleetOptions
  readonly #scalers: OtherScalers
  readonly #scalePath: string
  /** Deletion costs by pod, as last seen or written. */
  #costs: Map<string, number> | null = null

  constructor(options: ExecutorFleetOptions) {
    const { namespace, deployment } = options
    this.#options = options
    this.#scalers = createOtherScalers(options)
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
    const body = { spec: { replicas } }
    await this.#options.transport.request({
      method: 'PATCH',
      path: this.#scalePath,
      body,
      contentType: MERGE_PATCH,
    })
  }

  async setDeletionCosts(held: ReadonlyMap<string, number>, signal: AbortSignal): Promise<void> {
    if (this.#costs === null) await this.read()
    const costs = this.#costs ?? new Map<string, number>()
    const changes = [...costs]
      .map(([name, cost]) => ({ name, was: cost, is: costOfCalls(held.get(name) ?? 0) }))
      .filter(({ was, is }) => was !== is)
      .sort((a, b) => Math.abs(b.is - b.was) - Math.abs(a.is - a.was))
    for (const { name, is } of changes.slice(0, MARKS_MAX)) {
      await this.#mark(name, is, signal)
      costs.set(name, is)
    }
  }

  async #readScale(): Promise<Scale | null> {
    try {
      return await this.#options.transport.request<Scale>({ method: 'GET', path: this.#scalePath })
    } catch (error) {
      if (isFault(error, 'not_found')) return null
      throw error
    }
  }

  /** Those that are not on their way out. */
  async #listPods(scale: Scale): Promise<readonly Pod[]> {
    const labelSelector = scale.status?.selector ?? ''
    // Without a selector the list would be that of the whole namespace.
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

  async #mark(name: string, cost: number, signal: AbortSignal): Promise<void> {
    const { transport, namespace } = this.#options
    try {
      await transport.request({
        method: 'PATCH',
        path: objectPath(POD, { namespace, name }),
        body: { metadata: { annotations: { [DELETION_COST]: String(cost) } } },
        contentType: MERGE_PATCH,
        signal,
      })
    } catch (error) {
      if (!isFault(error, 'not_found')) throw error
    }
  }
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false
}

function costOf({ metadata }: Pod): number {
  const cost = Number(metadata.annotations?.[DELETION_COST] ?? 0)
  return Number.isSafeInteger(cost) ? cost : 0
}

/** Powers of two: a call more or less is no reason to write to a pod. */
function costOfCalls(calls: number): number {
  return calls <= 0 ? 0 : 2 ** Math.floor(Math.log2(calls))
}
