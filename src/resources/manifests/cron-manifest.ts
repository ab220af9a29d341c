import { createHash } from 'node:crypto'
import { DEFAULT_CRON_SETTINGS, type CronSettings } from '../../domain/crons/cron.ts'
import type { SecretKeyRef } from '../../domain/access/signing-secret.ts'
import { specOfCronSettings } from '../cron-spec.ts'
import { specOfSigningRefs } from '../secret-refs.ts'
import { changedSettings, newManifest } from './manifest-text.ts'
import { slugOf } from './slug.ts'

/** A free random name is sought at most this many times. More collisions in a row mean that something else is wrong. */
export const NAME_TRIES_MAX = 4
/** A random suffix is shorter, so a random name never equals one that is derived from a key. */
const KEY_HASH_CHARACTERS = 16
export const NO_FREE_NAME = 'no free name was found for a new cron'

/**
 * Makes the `metadata.name` of a cron created by the API, whose display name need not be unique.
 * @param suffix 8 random hex digits
 */
export function nameOfNewCron(displayName: string, suffix: string): string {
  return `${slugOf(displayName) || 'cron'}-${suffix}`
}

/** Makes the `metadata.name` of a cron created with an idempotency key, one for each key. */
export function nameOfKeyedCron(key: string): string {
  const hash = createHash('sha256').update(key, 'utf8').digest('hex').slice(0, KEY_HASH_CHARACTERS)
  return `${slugOf(key) || 'cron'}-${hash}`
}

/** The spec of a new resource, without default settings. */
export function newCronSpec(settings: CronSettings): Readonly<Record<string, unknown>> {
  return specOfCronSettings(changedSettings<CronSettings>(settings, DEFAULT_CRON_SETTINGS))
}

/**
 * Writes the manifest of one cron.
 * @param metadata.name `metadata.name`
 * @param metadata.namespace null = the team of the folder
 * @param signing names the cron's own signing secrets, newest first
 */
export function newCronManifest(
  metadata: { readonly name: string; readonly namespace: string | null },
  settings: CronSettings,
  signing: readonly SecretKeyRef[] = [],
): string {
  return newManifest('HttpCron', metadata, { ...newCronSpec(settings), ...specOfSigningRefs(signing) })
}
