import { secretTypeOf } from '../../domain/secrets/secret-use.ts'
import { isDeepStrictEqual } from 'node:util'
import {
  isMadeName,
  refusalOfAnother,
  type SecretPlace,
  SIGNING_SECRET_KEY,
  type SigningSecret,
  signingSecretId,
} from '../../domain/access/signing-secret.ts'
import { newSecretManifest } from '../../resources/manifests/manifest-text.ts'
import { editSigningRefs, newTeamManifest } from '../../resources/manifests/team-manifest.ts'
import { identityOf, type Resource, type TeamSettingsResource } from '../../resources/resource.ts'
import { isTeamSettings, oldestFirst } from '../applied-resources.ts'
import type { Placed } from '../folder-problem.ts'
import { FILES_MAX } from '../files/folder-scanner.ts'
import {
  type EditParts,
  type RefusedEdit,
  type Removal,
  writeEdit,
  writeRemoval,
  type WrittenEdit,
} from './manifest-edits.ts'

/** Nobody but this user may read it. */
const SECRET_MODE = 0o600

/** The signing secrets that the team's TeamSettings names, newest first. */
export function signingSecretsOf(parts: EditParts, team: string): readonly SigningSecret[] {
  return refsOf(settingsOf(parts, team)).map((ref) => ({
    id: signingSecretId(ref),
    secretRef: ref,
    createdAtMs: isMadeName(ref.name)
      ? (parts.files.get(fileOf(parts, team, ref.name))?.madeAtMs ?? null)
      : null,
  }))
}

/**
 * Writes a Secret into a file of its own, then its name into the TeamSettings, without applying them. What a crash between
 * the two leaves is a Secret that nothing names.
 */
export async function writeNewSigningSecret(
  parts: EditParts,
  given: { readonly team: string; readonly name: string; readonly text: string },
): Promise<WrittenEdit<SigningSecret> | RefusedEdit> {
  const { team, name, text } = given
  const settings = settingsOf(parts, team)
  const refs = refsOf(settings)
  const reason = refusalOfAnother(refs) ?? (settings === undefined ? noRoomText(parts) : null)
  if (reason !== null) return { status: 'refused', reason }
  const secretRef = { name, key: SIGNING_SECRET_KEY }
  const file = fileOf(parts, team, name)
  const secret = await writeEdit(parts, {
    ...{ place: null, newFile: file, newMode: SECRET_MODE, change: () => null },
    make: () =>
      newSecretManifest(
        { name, namespace: namespaceOf(parts, team) },
        { type: secretTypeOf('signing'), values: { [SIGNING_SECRET_KEY]: text } },
      ),
    isTarget: isNamed('Secret', team, name),
    isDone: (resource) =>
      resource.kind === 'Secret' &&
      Buffer.from(resource.data[SIGNING_SECRET_KEY] ?? []).equals(Buffer.from(text)),
  })
  if (secret.status === 'refused') return secret
  const edit = await writeRefs(parts, { team, settings, refs: [secretRef, ...refs] })
  if (edit.status === 'refused') {
    await secret.undo()
    return edit
  }
  const createdAtMs = parts.files.get(file)?.madeAtMs ?? null
  return {
    status: 'edited',
    settings: { id: signingSecretId(secretRef), secretRef, createdAtMs },
    key: team,
    undo: async () => {
      await edit.undo()
      await secret.undo()
    },
  }
}

/** Removes a name from the TeamSettings, then its Secret, if we wrote it and nothing else names it. */
export async function writeSigningSecretRemoval(
  parts: EditParts,
  { team, id }: { readonly team: string; readonly id: string },
): Promise<Removal> {
  const settings = settingsOf(parts, team)
  const all = refsOf(settings)
  const removed = all.find((ref) => signingSecretId(ref) === id)
  if (settings === undefined || removed === undefined) return { status: 'not_found' }
  const refs = all.filter((ref) => signingSecretId(ref) !== id)
  const edit = await writeRefs(parts, { team, settings, refs })
  if (edit.status === 'refused') return edit
  const { name } = removed
  const others = [...refs, ...settings.resource.channels.flatMap(({ secretRef }) => secretRef ?? [])]
  if (isMadeName(name) && !others.some((ref) => ref.name === name)) {
    const file = fileOf(parts, team, name)
    const places = (parts.files.get(file)?.good?.resources ?? [])
      .filter(({ resource }) => isNamed('Secret', team, name)(resource))
      .map(({ document }) => ({ file, document }))
    // Nothing is signed with it any more; a file that cannot be removed now does no harm.
    await writeRemoval(parts, places)
  }
  return { status: 'removed' }
}

function writeRefs(
  parts: EditParts,
  edit: {
    readonly team: string
    readonly settings: Placed<TeamSettingsResource> | undefined
    readonly refs: readonly SecretPlace[]
  },
): ReturnType<typeof writeEdit> {
  const { team, settings, refs } = edit
  const namespace = namespaceOf(parts, team)
  return writeEdit(parts, {
    place: settings ?? null,
    newFile: `${prefixOf(namespace)}team-settings.yaml`,
    make: () => newTeamManifest(namespace, refs),
    change: (text, document) => editSigningRefs(text, document, refs),
    isTarget: isNamed('TeamSettings', team, 'team'),
    isDone: (resource) =>
      resource.kind === 'TeamSettings' &&
      isDeepStrictEqual(resource.signingSecretRefs, refs) &&
      (settings === undefined ||
        isDeepStrictEqual(
          { ...resource, signingSecretRefs: [] },
          { ...settings.resource, signingSecretRefs: [] },
        )),
  })
}

/** The TeamSettings that is applied. */
function settingsOf({ files }: EditParts, team: string): Placed<TeamSettingsResource> | undefined {
  return oldestFirst(files.all())
    .filter(isTeamSettings)
    .find(({ resource }) => resource.team === team)
}

function refsOf(settings: Placed<TeamSettingsResource> | undefined): readonly SecretPlace[] {
  return settings?.resource.signingSecretRefs ?? []
}

/** Two files are written: with room for one, the folder would hold too many to be read. */
function noRoomText({ files }: EditParts): string | null {
  if (files.all().length + 2 <= FILES_MAX) return null
  return `The manifest folder has no room for two more manifests: at most ${FILES_MAX} are allowed.`
}

function namespaceOf({ team: own }: EditParts, team: string): string | null {
  return team === own ? null : team
}

/** The file of a Secret that we write. */
function fileOf(parts: EditParts, team: string, name: string): string {
  return `${prefixOf(namespaceOf(parts, team))}${name}.yaml`
}

function prefixOf(namespace: string | null): string {
  return namespace === null ? '' : `${namespace}_`
}

function isNamed(kind: Resource['kind'], team: string, name: string): (resource: Resource) => boolean {
  const identity = identityOf({ kind, team, name })
  return (resource) => identityOf(resource) === identity
}
