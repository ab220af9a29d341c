import type { Informer } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import type { Logger } from '../../ports/runtime.ts'
import { abortable } from '../client/deadline.ts'
import { Indexer, keyOf, type IndexFunctions } from './indexer.ts'
import type { SelectedNamespaces } from './selected-namespaces.ts'

/** The index that `all` must have, by namespace. */
export const BY_PLACE = 'place'

export interface SelectedInformerOptions<T extends KubeObject> {
  /** The objects of all namespaces. */
  readonly all: Informer<T>
  readonly namespaces: Pick<SelectedNamespaces, 'isKnown' | 'isSynced' | 'whenSynced' | 'onChange'>
  readonly indexes: IndexFunctions<T>
  readonly logger: Logger
}

/**
 * Keeps the objects of selected namespaces. Those of a namespace that joins appear as if they were created, those of
 * one that leaves as if they were deleted, so a listener asks whether the namespace is selected.
 */
export class SelectedInformer<T extends KubeObject> extends Indexer<T> implements Informer<T> {
  readonly #all: Informer<T>
  readonly #namespaces: SelectedInformerOptions<T>['namespaces']

  constructor({ all, namespaces, indexes, logger }: SelectedInformerOptions<T>) {
    super(logger, indexes)
    this.#all = all
    this.#namespaces = namespaces
    all.onChange((key, before, after) => {
      const { namespace = '' } = (after ?? before)?.metadata ?? {}
      if (namespaces.isKnown(namespace)) this.follow(key, after)
    })
    namespaces.onChange((namespace, isSelected) => {
      for (const object of all.byIndex(BY_PLACE, namespace)) {
        this.follow(keyOf(object), isSelected ? object : undefined)
      }
    })
  }

  isSynced(): boolean {
    return this.#all.isSynced() && this.#namespaces.isSynced()
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    await abortable(
      Promise.all([this.#all.whenSynced(signal), this.#namespaces.whenSynced(signal)]).then(() => undefined),
      signal,
    )
  }
}
