import { ResourceApiError } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { isFault } from '../client/api-errors.ts'
import { collectionPath, type ResourceKind } from '../client/resource-path.ts'
import type { Transport } from '../client/transport.ts'

/** Looks for those who scale the same Deployment. */
export interface OtherScalers {
  /** Kind and name of one, as found within the last minute; null = none. Throws ResourceApiError. */
  find(): Promise<string | null>
}

export interface OtherScalersOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly logger: Logger
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
/** Of KEDA, which makes an HPA of each that is not paused. */
const SCALED_OBJECT: ResourceKind = {
  apiVersion: 'keda.sh/v1alpha1',
  kind: 'ScaledObject',
  plural: 'scaledobjects',
}
const LOOK_EVERY_MS = 60_000
const SCALERS_MAX = 500

export function createOtherScalers(options: OtherScalersOptions): OtherScalers {
  return new RememberedScalers(options)
}

class RememberedScalers implements OtherScalers {
  readonly #options: OtherScalersOptions
  /** Kinds that may not be listed: the log has them. */
  readonly #forbidden = new Set<string>()
  #found: { readonly scaler: string | null; readonly atMs: number } | null = null

  constructor(options: OtherScalersOptions) {
    this.#options = options
  }

  async find(): Promise<string | null> {
    const nowMs = this.#options.clock.monotonicMs()
    if (this.#found === null || nowMs - this.#found.atMs >= LOOK_EVERY_MS) {
      this.#found = { scaler: await this.#look(), atMs: nowMs }
    }
    return this.#found.scaler
  }

  async #look(): Promise<string | null> {
    const scaler = await this.#among(HPA)
    if (scaler !== null || !(await this.#isServed(SCALED_OBJECT))) return scaler
    return this.#among(SCALED_OBJECT)
  }

  async #among(kind: ResourceKind): Promise<string | null> {
    const scalers = await this.#list(kind)
    const ours = scalers.find((scaler) => this.#isForOurs(scaler))
    return ours === undefined ? null : `${kind.kind} ${ours.metadata.name}`
  }

  async #list(kind: ResourceKind): Promise<readonly Scaler[]> {
    const { transport, namespace } = this.#options
    try {
      const path = collectionPath(kind, namespace)
      const query = { limit: SCALERS_MAX }
      const { items } = await transport.request<{ items: readonly Scaler[] | null }>({
        method: 'GET',
        path,
        query,
      })
      this.#forbidden.delete(kind.kind)
      return items ?? []
    } catch (error) {
      if (!(error instanceof ResourceApiError)) throw error
      if (error.fault === 'forbidden') this.#tellForbidden(kind, error)
      else if (error.fault !== 'not_found') throw error
      return []
    }
  }

  /** Asked of everyone's list of APIs: an API that is not there is forbidden to those who may not do everything. */
  async #isServed({ apiVersion }: ResourceKind): Promise<boolean> {
    try {
      await this.#options.transport.request({ method: 'GET', path: `/apis/${apiVersion}` })
      return true
    } catch (error) {
      if (isFault(error, 'not_found') || isFault(error, 'forbidden')) return false
      throw error
    }
  }

  #isForOurs({ spec }: Scaler): boolean {
    const { apiVersion = 'apps/v1', kind = 'Deployment', name } = spec?.scaleTargetRef ?? {}
    return kind === 'Deployment' && apiVersion.startsWith('apps/') && name === this.#options.deployment
  }

  #tellForbidden({ kind }: ResourceKind, error: ResourceApiError): void {
    if (this.#forbidden.has(kind)) return
    this.#forbidden.add(kind)
    const message = 'Whether someone else scales the executors cannot be seen; taken for no'
    this.#options.logger.warn(message, { kind, reason: error.message })
  }
}
