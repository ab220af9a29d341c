import { secretTypeOf, type SecretUse } from '../domain/secrets/secret-use.ts'
import type { SecretKeyRef } from '../domain/access/signing-secret.ts'
import { EditRefusedError, isFault } from '../domain/errors.ts'
import { type KubeObject, type NewObject, refOf, type ResourceStore } from '../ports/resource-store.ts'
import type { Clock } from '../ports/runtime.ts'
import type { TeamSettingsSpec } from '../resources/generated/kinds.ts'
import { API_ORIGIN, ORIGIN_LABEL } from '../resources/queue-owner.ts'
import { channelPlansOf } from '../resources/team-channels.ts'
import { refuseApplied, type IsReadOnly } from './managed-resources.ts'
import { withinTimeout } from './resource-edit.ts'

export interface TeamSettings extends KubeObject {
  readonly spec: Partial<TeamSettingsSpec>
}

/** The parts of TeamSettings that the API changes. */
export type SpecChange = Partial<Pick<TeamSettingsSpec, 'signing' | 'notifications'>>

export interface TeamSettingsOptions {
  readonly settings: Pick<ResourceStore<TeamSettings>, 'read' | 'create' | 'patchSpec'>
  readonly secrets: Pick<ResourceStore<KubeObject>, 'read' | 'create' | 'remove'>
  /** Tells whether we may write resources in this namespace. */
  readonly isWatched: (namespace: string) => boolean
  readonly isReadOnly: IsReadOnly
  readonly clock: Clock
}

/** The one TeamSettings of a namespace. */
const SETTINGS_NAME = 'team'
/** The TeamSettings is read again at most this many times when others change it at the same time. */
const TRIES_MAX = 3
const MADE_LABELS = { [ORIGIN_LABEL]: API_ORIGIN }
const NO_RIGHT =
  'This API may not make or remove Secrets of teams, nor change their TeamSettings: set api.signingSecrets.enabled in the chart, or edit them by kubectl.'

export function readSettings(
  { settings, clock }: Pick<TeamSettingsOptions, 'settings' | 'clock'>,
  team: string,
): Promise<TeamSettings | null> {
  return withinTimeout(clock, () => settings.read(team, SETTINGS_NAME))
}

/**
 * Changes the settings under a lock. Throws EditRefusedError too when others keep changing the resource.
 * @param change answers null when nothing is to be changed
 * @returns what was written, if anything
 */
export async function changeSettings(
  { settings, isReadOnly, clock }: Pick<TeamSettingsOptions, 'settings' | 'isReadOnly' | 'clock'>,
  team: string,
  change: (spec: TeamSettings['spec']) => SpecChange | null,
): Promise<TeamSettings | null> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const found = await readSettings({ settings, clock }, team)
    if (found?.metadata.deletionTimestamp !== undefined) {
      throw new EditRefusedError(`The TeamSettings of ${team} is being deleted.`)
    }
    const spec = change(found?.spec ?? {})
    if (spec === null) return null
    if (found !== null) refuseApplied(found, isReadOnly)
    try {
      return await withinTimeout(clock, () =>
        found === null
          ? settings.create({ metadata: { name: SETTINGS_NAME, namespace: team, labels: MADE_LABELS }, spec })
          : settings.patchSpec(refOf(found), spec, found.metadata.resourceVersion),
      )
    } catch (error) {
      if (!isCausedBy(error, 'conflict')) throw error
    }
  }
  throw new EditRefusedError(`The TeamSettings of ${team} keeps changing: try again.`)
}

/** Explains a missing right of the API's service account. */
export async function withRight<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request()
  } catch (error) {
    if (!isCausedBy(error, 'forbidden')) throw error
    throw new EditRefusedError(NO_RIGHT, { cause: error })
  }
}

function isCausedBy(error: unknown, fault: 'conflict' | 'forbidden'): boolean {
  return error instanceof EditRefusedError && isFault(error.cause, fault)
}

/** A Secret with one value. @param use null = it needs no mark, as the URL of a channel */
export function newSecret(
  namespace: string,
  { name, key }: SecretKeyRef,
  { text, use }: { readonly text: string; readonly use: SecretUse | null },
): NewObject {
  return {
    metadata: { name, namespace, labels: MADE_LABELS },
    type: use === null ? 'Opaque' : secretTypeOf(use),
    stringData: { [key]: text },
  }
}

/** Removes a Secret that nothing in these settings names any more. Should that fail, one is left that nothing names. */
export async function removeUnnamed(
  { secrets, clock }: Pick<TeamSettingsOptions, 'secrets' | 'clock'>,
  { metadata: { namespace }, spec }: TeamSettings,
  name: string,
): Promise<void> {
  if (namesOf(spec).has(name)) return
  await withinTimeout(clock, () => removeIfMade(secrets, namespace, name)).catch(() => undefined)
}

async function removeIfMade(
  secrets: TeamSettingsOptions['secrets'],
  team: string,
  name: string,
): Promise<void> {
  const found = await secrets.read(team, name)
  if (found !== null && isMade(found)) await secrets.remove(refOf(found))
}

export function isMade({ metadata }: KubeObject): boolean {
  return metadata.labels?.[ORIGIN_LABEL] === API_ORIGIN
}

/** The names of the Secrets that the settings refer to. */
function namesOf(spec: TeamSettings['spec']): ReadonlySet<string> {
  const ofChannels = channelPlansOf(spec).flatMap(({ secretRef }) => secretRef ?? [])
  const ofHeaders = (spec.headerSecrets ?? []).map(({ secretKeyRef }) => secretKeyRef)
  return new Set([...(spec.signing?.secretRefs ?? []), ...ofChannels, ...ofHeaders].map(({ name }) => name))
}
