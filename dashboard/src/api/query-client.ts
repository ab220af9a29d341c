import {
  type DefaultOptions,
  focusManager,
  hashKey,
  type InvalidateOptions,
  noop,
  notifyManager,
  type QueryClient,
  QueryCache,
  type QueryFilters,
  type QueryKey,
} from '@tanstack/preact-query'

/** The library's mark of options that have their defaults. */
const DEFAULTED = '_defaulted'

interface Given {
  readonly queryKey: QueryKey
  readonly [DEFAULTED]?: boolean
}

/**
 * What the page needs of the library's own client, which brings mutations, defaults for keys and reads apart from
 * components along: 2 kB of all scripts.
 */
class ReadClient {
  readonly #cache = new QueryCache()
  readonly #defaults: DefaultOptions['queries']
  #stopFocus: () => void = noop

  constructor(defaults: DefaultOptions['queries']) {
    this.#defaults = defaults
  }

  mount(): void {
    this.#stopFocus = focusManager.subscribe((isFocused) => {
      if (isFocused) this.#cache.onFocus()
    })
  }

  unmount(): void {
    this.#stopFocus()
  }

  getQueryCache(): QueryCache {
    return this.#cache
  }

  getDefaultOptions(): DefaultOptions {
    return {}
  }

  getQueryDefaults(): object {
    return {}
  }

  defaultQueryOptions(options: Given): object {
    if (options[DEFAULTED] === true) return options
    return {
      ...{ refetchOnReconnect: false, throwOnError: false, queryHash: hashKey(options.queryKey) },
      ...this.#defaults,
      ...options,
      [DEFAULTED]: true,
    }
  }

  /** Marks what has been read, and reads what is on the screen again. Never fails. */
  async invalidateQueries(filters: QueryFilters = {}, options: InvalidateOptions = {}): Promise<void> {
    const { cancelRefetch = true } = options
    const found = this.#cache.findAll(filters)
    await Promise.all(
      notifyManager.batch(() => {
        for (const query of found) query.invalidate()
        return found
          .filter((query) => query.isActive() && !query.isDisabled())
          .map((query) => query.fetch(undefined, { cancelRefetch }).catch(noop))
      }),
    )
  }

  async resetQueries(): Promise<void> {
    for (const query of this.#cache.getAll()) query.reset()
    await this.invalidateQueries()
  }
}

export function createReadClient(defaults: DefaultOptions['queries']): QueryClient {
  return new ReadClient(defaults) as unknown as QueryClient
}
