import type { ChainSettings } from '../../../../domain/jobs/queue-settings.ts'
import { LruCache } from '../../../../domain/lru-cache.ts'
import { settingsIn } from '../../../base/layout/queue-record.ts'

const CACHED_SETTINGS_MAX = 10_000

/** Keeps frozen settings by their content hash. They are immutable, so an entry is never stale. */
export class SettingsCache {
  readonly #known = new LruCache<string, ChainSettings>(CACHED_SETTINGS_MAX)

  /** Answers null when the settings are neither known nor readable. @param json '' = they are not stored */
  learn(hash: string, json: string): ChainSettings | null {
    const known = this.#known.get(hash)
    if (known !== undefined) return known
    const settings = settingsIn(hash, json)
    if (settings !== null) this.#known.set(hash, settings)
    return settings
  }
}
