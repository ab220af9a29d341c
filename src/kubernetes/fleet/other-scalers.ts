import { ResourceApiError, isFault } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { ignoreNotFound } from '../client/api-errors.ts'
import { collectionPath, type ResourceKind } from '../client/resource-path.ts'
import type { Transport } from '../client/transport.ts'

export interface FleetOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly logger: Logger
  /** The namespace of the controller itself. */
  readonly namespace: string
  readonly deployment: string
}

interface Scaler {
  readonly metadata: { readonly name: string }
  readonly spec?: {
    readonly scaleTargetRef?: { readonly apiVersion?: string; readonly kind?: string; readonly name?: string }
  }
}

const HPA: ResourceKind = {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
}
/** KEDA's own kind. It creates an HPA for each that is not paused. */
const SCALED_OBJECT: ResourceKind = {
  apiVersion: 'keda.sh/v1alpha1',
  kind: 'ScaledObject',
  plural: 'scaledobjects',
}
const CACHED_MS = 60_000
const SCALERS_MAX = 500

/** Finds autoscalers that scale the same Deployment. */
export class OtherScalers {
  readonly #options: FleetOptions
  /** Kinds that we may not list. Each is logged once. */
  readonly #forbidden = new Set<string>()
  #found: { readonly scaler: string | null; readonly atMs: number } | null = null

  constructor(options: FleetOptions) {
    this.#options = options
  }

  /**
   * Answers kind and name of another autoscaler, at most a minute old; null = there is none. Throws ResourceApiError.
   */
  async find(): Promise<string | null> {
    const nowMs = this.#options.clock.monotonicMs()
    if (this.#found === null || nowMs - this.#found.atMs >= CACHED_MS) {
      this.#found = { scaler: await this.#read(), atMs: nowMs }
    }
    return this.#found.scaler
  }

  async #read(): Promise<string | null> {
    const scaler = await this.#findOf(HPA)
    if (scaler !== null || !(await this.#isServed(SCALED_OBJECT))) return scaler
    return this.#findOf(SCALED_OBJECT)
  }

  async #findOf(kind: ResourceKind): Promise<string | null> {
    const scalers = await this.#list(kind)
    const found = scalers.find((scaler) => this.#isOfOurs(scaler))
    return found === undefined ? null : `${kind.kind} ${found.metadata.name}`
  }

  async #list(kind: ResourceKind): Promise<readonly Scaler[]> {
    const { transport, namespace } = this.#options
    try {
      const path = collectionPath(kind, namespace)
      const list = transport.request<{ items: readonly Scaler[] | null }>({
        method: 'GET',
        path,
        query: { limit: SCALERS_MAX },
      })
      const scalers = (await ignoreNotFound(list))?.items ?? []
      this.#forbidden.delete(kind.kind)
      return scalers
    } catch (error) {
      if (!(error instanceof ResourceApiError) || error.fault !== 'forbidden') throw error
      this.#logForbidden(kind, error)
      return []
    }
  }

  /** Everyone may discover an API group; listing a kind that does not exist is forbidden to all but administrators. */
  async #isServed({ apiVersion }: ResourceKind): Promise<boolean> {
    try {
      await this.#options.transport.request({ method: 'GET', path: `/apis/${apiVersion}` })
      return true
    } catch (error) {
      if (isFault(error, 'not_found') || isFault(error, 'forbidden')) return false
      throw error
    }
  }

  #isOfOurs({ spec }: Scaler): boolean {
    const { apiVersion = 'apps/v1', kind = 'Deployment', name } = spec?.scaleTargetRef ?? {}
    return kind === 'Deployment' && apiVersion.startsWith('apps/') && name === this.#options.deployment
  }

  #logForbidden({ kind }: ResourceKind, error: ResourceApiError): void {
    if (this.#forbidden.has(kind)) return
    this.#forbidden.add(kind)
    const message = 'No right to see whether an autoscaler scales the executors; assuming that none does'
    this.#options.logger.warn(message, { kind, reason: error.message })
  }
}
