import type { WindowSettings } from '../../domain/windows/maintenance-window.ts'
import { specOfWindowSettings, type WindowSpecChange } from '../window-spec.ts'
import { editSpec, newManifest } from './manifest-text.ts'
import { slugOf } from './slug.ts'

/**
 * `metadata.name` of a window created by the API without a name.
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

/**
 * A manifest of one window.
 * @param name `metadata.name`
 * @param namespace null = the team of the folder
 */
export function newWindowManifest(name: string, namespace: string | null, settings: WindowSettings): string {
  return newManifest('MaintenanceWindow', { name, namespace }, newWindowSpec(settings))
}

/** Changes fields of one window, as `editSpec` does. */
export function editWindowManifest(text: string, document: number, change: WindowSpecChange): string | null {
  return editSpec(text, document, change)
}
