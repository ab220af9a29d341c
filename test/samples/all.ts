import { API_TOKEN } from './api-token.ts'
import { boundSamples } from './bounds.ts'
import { HTTP_CRON } from './http-cron.ts'
import { HTTP_QUEUE } from './http-queue.ts'
import { MAINTENANCE_WINDOW } from './maintenance-window.ts'
import type { GivenSample, InvalidSample, KindSamples, Sample } from './sample.ts'
import { TEAM_SETTINGS } from './team-settings.ts'

export const KINDS: readonly KindSamples[] = [
  HTTP_QUEUE,
  HTTP_CRON,
  MAINTENANCE_WINDOW,
  TEAM_SETTINGS,
  API_TOKEN,
]

export const VALID: readonly Sample[] = KINDS.flatMap((kind) => [
  ...kind.valid.map((given) => ofKind(kind, given)),
  ...kind.full.map((spec, index) => ofKind(kind, { title: `everything ${index}`, spec })),
  ...boundSamples(kind).valid,
])

export const INVALID: readonly InvalidSample[] = KINDS.flatMap((kind) => [
  ...kind.invalid.map((given) => ofKind(kind, given)),
  ...boundSamples(kind).invalid,
])

function ofKind<T extends GivenSample>({ kind, name }: KindSamples, given: T): T & Sample {
  return { ...given, kind, name: given.name ?? name }
}

/** The sample as a manifest. */
export function manifestOf({ kind, name }: Sample, spec: unknown): object {
  return { apiVersion: 'punctual.dev/v1alpha1', kind, metadata: { name }, spec }
}
