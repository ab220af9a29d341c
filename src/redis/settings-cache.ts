import type { ChainSettings } from '../domain/queue-settings.ts'
import { decodeSettings } from './job-record.ts'

/** Frozen settings by their content hash: immutable, so an entry is never wrong, only forgotten. */
export interface SettingsCache {
  /** null when they are neither known nor told: `json` is ''. */
  learn(hash: string, json: string): ChainSettings | null
}

const CACHED_SETTINGS_MAX = 10_000

export function createSettingsCache(): SettingsCache {
  const known = new Map<string, ChainSettings>()
  return {
    learn: (hash, json) => {
      const present = known.get(hash)
      if (present !== undefined) return present
      if (json === '') return null
      if (known.size >= CACHED_SETTINGS_MAX) known.clear()
      const settings = decodeSettings(json)
      known.set(hash, settings)
      return settings
    },
  }
}
