import {
  refusalOfAnother,
  type SecretKeyRef,
  SIGNING_SECRET_KEY,
  type SigningSecret,
  signingSecretId,
} from '../domain/access/signing-secret.ts'
import { EditRefusedError, isFault, ResourceApiError } from '../domain/errors.ts'
import type { SigningSecretStore } from '../ports/access/signing-secrets.ts'
import { type KubeObject, refOf } from '../ports/resource-store.ts'
import { notWatched, pollUntil, withinTimeout } from './resource-edit.ts'
import {
  changeSettings,
  isMade,
  newSecret,
  readSettings,
  removeUnnamed,
  type TeamSettings,
  type TeamSettingsOptions,
  withRight,
} from './team-settings-edit.ts'

export interface SigningSecretsOptions extends TeamSettingsOptions {
  /** Tells whether this process knows that calls of the team are signed with the secret by now. */
  readonly isUsed: (team: string, id: string) => boolean
}

/** Keeps each signing secret in a Secret that the TeamSettings of the namespace names. */
export function createSigningSecrets(options: SigningSecretsOptions): SigningSecretStore {
  const { secrets, isUsed, isWatched, clock } = options

  return {
    list: async (team) => {
      if (!isWatched(team)) return []
      const refs = refsOf((await readSettings(options, team))?.spec)
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
      refuseAnother(refsOf((await readSettings(options, team))?.spec))
      const object = newSecret(team, ref, { text, use: 'signing' })
      const made = await withRight(() => withinTimeout(clock, () => secrets.create(object)))
      try {
        await withRight(() =>
          changeRefs(options, team, (refs) => {
            refuseAnother(refs)
            return [ref, ...refs]
          }),
        )
      } catch (error) {
        // Without an answer the settings may name the Secret by now, so it must stay.
        if (!(error instanceof ResourceApiError)) await secrets.remove(refOf(made)).catch(() => undefined)
        throw error
      }
      await pollUntil(clock, () => Promise.resolve(isUsed(team, signingSecretId(ref))))
      return shown(ref, made)
    },
    remove: async (team, id) => {
      if (!isWatched(team)) throw notWatched('Signing secrets', team)
      let removed: SecretKeyRef | undefined
      const written = await withRight(() =>
        changeRefs(options, team, (refs) => {
          removed = refs.find((ref) => signingSecretId(ref) === id)
          return removed === undefined ? null : refs.filter((ref) => signingSecretId(ref) !== id)
        }),
      )
      if (removed === undefined || written === null) return 'not_found'
      // Nothing is signed with the secret any more.
      await removeUnnamed(options, written, removed.name)
      return 'removed'
    },
  }
}

/** @param change answers null when nothing is to be changed */
function changeRefs(
  options: SigningSecretsOptions,
  team: string,
  change: (refs: readonly SecretKeyRef[]) => readonly SecretKeyRef[] | null,
): Promise<TeamSettings | null> {
  return changeSettings(options, team, (spec) => {
    const secretRefs = change(refsOf(spec))
    return secretRefs === null ? null : { signing: { secretRefs } }
  })
}

async function readIfAllowed(
  secrets: SigningSecretsOptions['secrets'],
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

function shown(ref: SecretKeyRef, secret: KubeObject | null): SigningSecret {
  const isOurs = secret !== null && isMade(secret)
  return {
    id: signingSecretId(ref),
    secretRef: ref,
    createdAtMs: isOurs ? Date.parse(secret.metadata.creationTimestamp) : null,
  }
}

function refsOf(spec: TeamSettings['spec'] | undefined): readonly SecretKeyRef[] {
  return spec?.signing?.secretRefs ?? []
}

function refuseAnother(refs: readonly SecretKeyRef[]): void {
  const reason = refusalOfAnother(refs)
  if (reason !== null) throw new EditRefusedError(reason)
}
