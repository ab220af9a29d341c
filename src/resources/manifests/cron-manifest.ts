import { createHash } from 'node:crypto'
import { DEFAULT_CRON_SETTINGS, type CronSettings } from '../../domain/crons/cron.ts'
import type { SecretPlace } from '../../domain/access/signing-secret.ts'
import { specOfCronSettings } from '../cron-spec.ts'
import { specOfSigningRefs } from '../secret-refs.ts'
import { changedSettings, editSpec, newManifest } from './manifest-text.ts'
import { slugOf } from './slug.ts'

/** Attempts to find a free random name; more collisions in a row mean that something else is wrong. */
export const NAME_TRIES_MAX = 4
/** More than a random suffix has, so that a random name never equals one derived from a key. */
const KEY_HASH_CHARACTERS = 16
export const NO_FREE_NAME = 'no free name was found for a new cron'

/**
 * `metadata.name` of a cron created by the API, whose display name need not be unique.
 * @param suffix 8 random hex digits
 */
export function nameOfNewCron(displayName: string, suffix: string): string {
  return `${slugOf(displayName) || 'cron'}-${suffix}`
}

/** `metadata.name` of a cron created with an idempotency key: one name per key. */
export function nameOfKeyedCron(key: string): string {
  const hash = createHash('sha256').update(key, 'utf8').digest('hex').slice(0, KEY_HASH_CHARACTERS)
  return `${slugOf(key) || 'cron'}-${hash}`
}

/** The spec of a new resource, without default settings. */
export function newCronSpec(settings: CronSettings): Readonly<Record<string, unknown>> {
  return specOfCronSettings(changedSettings<CronSettings>(settings, DEFAULT_CRON_SETTINGS))
}

/**
 * A manifest of one cron.
 * @param place.name `metadata.name`
 * @param place.namespace null = the team of the folder
 * @param signing where its own signing secrets lie, newest first
 */
export function newCronManifest(
  place: { readonly name: string; readonly namespace: string | null },
  settings: CronSettings,
  signing: readonly SecretPlace[] = [],
): string {
  return newManifest('HttpCron', place, { ...newCronSpec(settings), ...specOfSigningRefs(signing) })
}

/** Changes settings of one cron, as `editSpec` does. */
export function editCronManifest(
  text: string,
  document: number,
  change: Partial<CronSettings>,
): string | null {
  return editSpec(text, document, specOfCronSettings(change))
}
