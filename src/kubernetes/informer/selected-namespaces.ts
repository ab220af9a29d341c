import { ResourceApiError } from '../../domain/errors.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import type { Logger } from '../../ports/runtime.ts'
import type { ResourceKind } from '../client/resource-path.ts'
import { SharedInformer, type InformerOptions } from './shared-informer.ts'

export const NAMESPACES: ResourceKind = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces' }

export interface SelectedNamespacesOptions extends Omit<
  InformerOptions<KubeObject>,
  'kind' | 'namespaces' | 'indexes' | 'transform' | 'labelSelector'
> {
  readonly labelSelector: string
  /** This namespace is always selected, as it has the first token. */
  readonly ownNamespace: string
}

type Listener = (namespace: string, isSelected: boolean) => void

/**
 * Keeps the namespaces with certain labels, and our own, up to date. A namespace whose labels change joins or leaves.
 * One that is being deleted stays until nothing is left in it, so that finalizers are removed.
 */
export class SelectedNamespaces {
  readonly #informer: SharedInformer<KubeObject>
  readonly #own: string
  readonly #logger: Logger

  constructor({ ownNamespace, ...options }: SelectedNamespacesOptions) {
    this.#own = ownNamespace
    this.#logger = options.logger
    this.#informer = new SharedInformer({
      ...options,
      kind: NAMESPACES,
      namespaces: null,
      indexes: {},
      transform: transformNamespace,
    })
  }

  start(): void {
    this.#informer.start()
    this.onChange((namespace, isSelected) => {
      // Changes before the first list tell of no namespace that joins or leaves.
      if (!this.isSynced()) return
      const what = isSelected
        ? 'A namespace is served from now on'
        : 'A namespace is no longer served: its labels differ, or it was deleted; its applied settings stay'
      this.#logger.info(what, { namespace })
    })
  }

  stop(): Promise<void> {
    return this.#informer.stop()
  }

  isSynced(): boolean {
    return this.#informer.isSynced()
  }

  whenSynced(signal: AbortSignal): Promise<void> {
    return this.#informer.whenSynced(signal)
  }

  /** Throws ResourceApiError until all selected namespaces are known. */
  has(namespace: string): boolean {
    if (!this.isSynced()) throw new ResourceApiError('unavailable', 'the namespaces are not all known yet')
    return this.isKnown(namespace)
  }

  /** Answers like `has`, but by the namespaces known so far. */
  isKnown(namespace: string): boolean {
    return namespace === this.#own || this.#informer.get(`${namespace}/${namespace}`) !== undefined
  }

  onChange(listener: Listener): () => void {
    return this.#informer.onChange((_key, before, after) => {
      const { name = this.#own } = (after ?? before)?.metadata ?? {}
      if (name === this.#own || (before !== undefined && after !== undefined)) return
      listener(name, after !== undefined)
    })
  }
}

/** Keeps little of a namespace, and names the namespace itself as the one it lies in, so that it has a key. */
function transformNamespace({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, uid, resourceVersion, creationTimestamp } = metadata
  return { apiVersion, kind, metadata: { name, namespace: name, uid, resourceVersion, creationTimestamp } }
}
