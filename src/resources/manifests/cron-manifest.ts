import { createHash } from 'node:crypto'
import { DEFAULT_CRON_SETTINGS } from '../../domain/crons/cron.ts'
import type { CronSettings } from '../../domain/crons/cron.ts'
import { specOfCronSettings } from '../cron-spec.ts'
import { changedSettings, editSpec, newManifest } from './manifest-text.ts'
import { slugOf } from './slug.ts'

/** A name drawn at random is taken this often in a row only if something else is wrong. */
export const NAME_TRIES_MAX = 4
/** More than a name drawn at random has, so that none is drawn that a key leads to. */
const KEY_HASH_CHARACTERS = 16
export const NO_FREE_NAME = 'no free name was found for a new cron'

/**
 * `metadata.name` of a cron made by the API, whose own name need not be unique.
 * @param suffix 8 random hex digits
 */
export function nameOfNewCron(displayName: string, suffix: string): string {
  return `${slugOf(displayName) || 'cron'}-${suffix}`
}

/** `metadata.name` of a cron made under a key, the same one each time. */
export function nameOfKeyedCron(key: string): string {
  const hash = createHash('sha256').update(key, 'utf8').digest('hex').slice(0, KEY_HASH_CHARACTERS)
  return `${slugOf(key) || 'cron'}-${hash}`
}

/** The spec of a new resource; settings that are the defaults are left out. */
export function newCronSpec(settings: CronSettings): Readonly<Record<string, unknown>> {
  return specOfCronSettings(changedSettings<CronSettings>(settings, DEFAULT_CRON_SETTINGS))
}

/**
 * A manifest of one cron.
 * @param name `metadata.name`
 * @param namespace null = the folder's own team
 */
export function newCronManifest(name: string, namespace: string | null, settings: CronSettings): string {
  return newManifest('HttpCron', { name, namespace }, newCronSpec(settings))
}

/** As `editQueueManifest`. */
export function editCronManifest(
  text: string,
  document: number,
  change: Partial<CronSettings>,
): string | null {
  return editSpec(text, document, specOfCronSettings(change))
}
