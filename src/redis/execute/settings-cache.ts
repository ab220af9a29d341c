import type { ChainSettings } from '../../domain/jobs/queue-settings.ts'
import { settingsIn } from '../layout/job-record.ts'

/** Frozen settings by their content hash: immutable, so an entry is never wrong, only forgotten. */
export interface SettingsCache {
  /** null when they are neither known nor told, `json` being '' or damaged. */
  learn(hash: string, json: string): ChainSettings | null
}

const CACHED_SETTINGS_MAX = 10_000

export function createSettingsCache(): SettingsCache {
  const known = new Map<string, ChainSettings>()
  return {
    learn: (hash, json) => {
      const present = known.get(hash)
      if (present !== undefined) return present
      const settings = settingsIn(hash, json)
      if (settings === null) return null
      if (known.size >= CACHED_SETTINGS_MAX) known.clear()
      known.set(hash, settings)
      return settings
    },
  }
}
