import type { ChainSettings } from '../../../domain/jobs/queue-settings.ts'
import { LruCache } from '../../../domain/lru-cache.ts'
import { settingsIn } from '../../layout/job-record.ts'

const CACHED_SETTINGS_MAX = 10_000

/** Frozen settings by their content hash: immutable, so an entry is never stale. */
export class SettingsCache {
  readonly #known = new LruCache<string, ChainSettings>(CACHED_SETTINGS_MAX)

  /** @param json '' = not stored. Answers null when the settings are neither known nor readable. */
  learn(hash: string, json: string): ChainSettings | null {
    const known = this.#known.get(hash)
    if (known !== undefined) return known
    const settings = settingsIn(hash, json)
    if (settings !== null) this.#known.set(hash, settings)
    return settings
  }
}
