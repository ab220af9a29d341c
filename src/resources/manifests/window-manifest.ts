import type { WindowSettings } from '../../domain/windows/maintenance-window.ts'
import { specOfWindowSettings } from '../window-spec.ts'
import { slugOf } from './slug.ts'

/**
 * Makes the `metadata.name` of a window that the API creates without a name.
 * @param suffix 8 random hex digits
 */
export function nameOfNewWindow(reason: string | null, suffix: string): string {
  return `${slugOf(reason ?? '') || 'window'}-${suffix}`
}

/** The spec of a new resource, without the defaults. */
export function newWindowSpec(settings: WindowSettings): Readonly<Record<string, unknown>> {
  const fields = Object.entries(specOfWindowSettings(settings))
  return Object.fromEntries(
    fields.filter(([name, value]) => value !== null && (name !== 'action' || value !== 'Mute')),
  )
}
