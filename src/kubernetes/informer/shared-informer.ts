import type { Informer } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import { abortable } from '../client/deadline.ts'
import { Indexer, type IndexFunctions } from './indexer.ts'
import { Reflector, type ReflectorOptions } from './reflector.ts'

export interface InformerOptions<T extends KubeObject> extends Omit<
  ReflectorOptions<T>,
  'store' | 'namespace'
> {
  /**
   * Names at least one namespace; each is listed and watched separately, so that rights in these suffice. null = all.
   */
  readonly namespaces: readonly string[] | null
  readonly indexes: IndexFunctions<T>
}

/** An indexer that reflectors keep up to date, one per namespace. `stop` waits for their requests; reads go on. */
export class SharedInformer<T extends KubeObject> extends Indexer<T> implements Informer<T> {
  readonly #reflectors: ReadonlyArray<Reflector<T>>
  /** Namespaces whose first list is not in yet. */
  readonly #unlisted: Set<string | null>
  readonly #synced = Promise.withResolvers<void>()

  constructor(options: InformerOptions<T>) {
    super(options.logger, options.indexes)
    this.#unlisted = new Set(options.namespaces ?? [null])
    this.#reflectors = [...this.#unlisted].map(
      (namespace) => new Reflector<T>({ ...options, namespace, store: this }),
    )
  }

  start(): void {
    for (const reflector of this.#reflectors) reflector.start()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.stop()))
  }

  isSynced(): boolean {
    return this.#unlisted.size === 0
  }

  whenSynced(signal: AbortSignal): Promise<void> {
    return abortable(this.#synced.promise, signal)
  }

  override replace(namespace: string | null, objects: readonly T[]): void {
    super.replace(namespace, objects)
    if (this.#unlisted.delete(namespace) && this.isSynced()) this.#synced.resolve()
  }
}
