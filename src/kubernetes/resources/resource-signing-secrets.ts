import {
  refusalOfAnother,
  type SecretPlace,
  SIGNING_SECRET_KEY,
  type SigningSecret,
  signingSecretId,
} from '../../domain/access/signing-secret.ts'
import { secretTypeOf } from '../../domain/secrets/secret-use.ts'
import { EditRefusedError } from '../../domain/errors.ts'
import type { SigningSecretStore } from '../../ports/access/signing-secrets.ts'
import type { KubeObject, NewObject, ResourceWriter } from '../../ports/kubernetes.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { TeamSettingsSpec } from '../../resources/generated/kinds.ts'
import { API_ORIGIN, ORIGIN_LABEL } from '../../resources/queue-owner.ts'
import { channelPlansOf } from '../../resources/team-channels.ts'
import { isFault } from '../client/api-errors.ts'
import { refuseApplied, type IsReadOnly } from './managed-resources.ts'
import { notWatched, pollUntil, refOf, withinTimeout } from './resource-edit.ts'

interface TeamSettings extends KubeObject {
  readonly spec: Partial<TeamSettingsSpec>
}

export interface ResourceSigningSecretsOptions {
  readonly settings: Pick<ResourceWriter<TeamSettings>, 'read' | 'create' | 'patchSpec'>
  readonly secrets: Pick<ResourceWriter<KubeObject>, 'read' | 'create' | 'remove'>
  /** Whether calls of the team are signed with it by now, as far as this process knows. */
  readonly isUsed: (team: string, id: string) => boolean
  /** Whether we may write resources in this namespace. */
  readonly isWatched: (namespace: string) => boolean
  readonly isReadOnly: IsReadOnly
  readonly clock: Clock
}

/** The one TeamSettings of a namespace. */
const SETTINGS_NAME = 'team'
/** How often the TeamSettings is read again when others change it at the same time. */
const TRIES_MAX = 3
const MADE_LABELS = { [ORIGIN_LABEL]: API_ORIGIN }
const NO_RIGHT =
  'This API may not make or remove signing secrets: set api.signingSecrets.enabled in the chart, or edit the Secret and the TeamSettings by kubectl.'

/** Signing secrets as Secrets that the TeamSettings of the namespace names. */
export function createResourceSigningSecrets(options: ResourceSigningSecretsOptions): SigningSecretStore {
  const { settings, secrets, isUsed, isWatched, clock } = options

  return {
    list: async (team) => {
      if (!isWatched(team)) return []
      const refs = refsOf(await withinTimeout(clock, () => settings.read(team, SETTINGS_NAME)))
      return Promise.all(
        refs.map(async (ref) => {
          const found = await withinTimeout(clock, () => readIfAllowed(secrets, team, ref.name))
          return shown(ref, found)
        }),
      )
    },
    create: async (team, { name, text }) => {
      if (!isWatched(team)) throw notWatched('Signing secrets', team)
      const ref = { name, key: SIGNING_SECRET_KEY }
      refuseAnother(refsOf(await withinTimeout(clock, () => settings.read(team, SETTINGS_NAME))))
      const object = newSecret(team, name, text)
      const made = await withRight(() => withinTimeout(clock, () => secrets.create(object)))
      try {
        await withRight(() =>
          changeRefs(options, team, (refs) => {
            refuseAnother(refs)
            return [ref, ...refs]
          }),
        )
      } catch (error) {
        // Without an answer the settings may name it: then it must stay.
        if (error instanceof EditRefusedError) await secrets.remove(refOf(made)).catch(() => undefined)
        throw error
      }
      await pollUntil(clock, () => Promise.resolve(isUsed(team, signingSecretId(ref))))
      return shown(ref, made)
    },
    remove: async (team, id) => {
      if (!isWatched(team)) throw notWatched('Signing secrets', team)
      let removed: SecretPlace | undefined
      const written = await withRight(() =>
        changeRefs(options, team, (refs) => {
          removed = refs.find((ref) => signingSecretId(ref) === id)
          return removed === undefined ? null : refs.filter((ref) => signingSecretId(ref) !== id)
        }),
      )
      if (removed === undefined || written === null) return 'not_found'
      const { name } = removed
      // Nothing is signed with it any more: should this fail, a Secret is left that nothing names.
      if (!namesOf(written).has(name)) {
        await withinTimeout(clock, () => removeIfMade(secrets, team, name)).catch(() => undefined)
      }
      return 'removed'
    },
  }
}

function newSecret(namespace: string, name: string, text: string): NewObject {
  return {
    metadata: { name, namespace, labels: MADE_LABELS },
    type: secretTypeOf('signing'),
    stringData: { [SIGNING_SECRET_KEY]: text },
  }
}

/**
 * Changes the list under a lock. Throws EditRefusedError also when others keep changing the resource.
 * @param change null = nothing is to be changed
 * @returns what was written, if anything
 */
async function changeRefs(
  { settings, isReadOnly, clock }: ResourceSigningSecretsOptions,
  team: string,
  change: (refs: readonly SecretPlace[]) => readonly SecretPlace[] | null,
): Promise<TeamSettings | null> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const found = await withinTimeout(clock, () => settings.read(team, SETTINGS_NAME))
    if (found?.metadata.deletionTimestamp !== undefined) {
      throw new EditRefusedError(`The TeamSettings of ${team} is being deleted.`)
    }
    const secretRefs = change(refsOf(found))
    if (secretRefs === null) return null
    if (found !== null) refuseApplied(found, isReadOnly)
    const spec = { signing: { secretRefs } }
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
async function withRight<T>(request: () => Promise<T>): Promise<T> {
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

async function readIfAllowed(
  secrets: ResourceSigningSecretsOptions['secrets'],
  team: string,
  name: string,
): Promise<KubeObject | null> {
  try {
    return await secrets.read(team, name)
  } catch (error) {
    if (isFault(error, 'forbidden')) return null
    throw error
  }
}

async function removeIfMade(
  secrets: ResourceSigningSecretsOptions['secrets'],
  team: string,
  name: string,
): Promise<void> {
  const found = await secrets.read(team, name)
  if (found !== null && isMade(found)) await secrets.remove(refOf(found))
}

function shown(ref: SecretPlace, secret: KubeObject | null): SigningSecret {
  const isOurs = secret !== null && isMade(secret)
  return {
    id: signingSecretId(ref),
    secretRef: ref,
    createdAtMs: isOurs ? Date.parse(secret.metadata.creationTimestamp) : null,
  }
}

function isMade({ metadata }: KubeObject): boolean {
  return metadata.labels?.[ORIGIN_LABEL] === API_ORIGIN
}

function refsOf(settings: TeamSettings | null): readonly SecretPlace[] {
  return settings?.spec.signing?.secretRefs ?? []
}

/** Secrets that the settings name. */
function namesOf({ spec }: TeamSettings): ReadonlySet<string> {
  const ofChannels = channelPlansOf(spec).flatMap(({ secretRef }) => secretRef ?? [])
  return new Set([...(spec.signing?.secretRefs ?? []), ...ofChannels].map(({ name }) => name))
}

function refuseAnother(refs: readonly SecretPlace[]): void {
  const reason = refusalOfAnother(refs)
  if (reason !== null) throw new EditRefusedError(reason)
}
