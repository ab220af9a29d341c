import { isDeepStrictEqual } from 'node:util'
import { EditRefusedError, ResourceApiError, type ResourceApiFault } from '../../domain/errors.ts'
import type { KubeObject, NewObject, ObjectRef, ResourceStore } from '../../ports/resource-store.ts'
import {
  type ManifestMetadata,
  mergePatch,
  newManifest,
  newSecretManifest,
  patchSpecText,
} from '../../resources/manifests/manifest-text.ts'
import type { ReadResource } from '../../resources/manifests/manifest-reader.ts'
import type { problemText } from '../../resources/resource.ts'
import { API_VERSION, identityOf, type Resource } from '../../resources/resource.ts'
import { keysOfResource, oldestFirst } from '../applied-resources.ts'
import { objectOf, uidOf } from '../folder-object.ts'
import type { Placed } from '../folder-problem.ts'
import {
  type EditParts,
  type ManifestEdit,
  writeEdit,
  writeRemoval,
  type WrittenEdit,
} from './manifest-edits.ts'

export type FolderKindName = Resource['kind']

/** Reads and writes the folder. Calls run one after another, and each begins with what is in the files by then. */
export interface FolderAccess {
  readonly parts: EditParts
  read<T>(read: () => T): Promise<T>
  /** Applies what is written. When that fails, restores the file and throws the reason. */
  edit(write: () => Promise<WrittenEdit>): Promise<void>
  /**
   * Applies a removal. One that cannot be applied is tried again.
   * @param isApplied false = nothing of it is applied by itself, as of a Secret, so that the removal needs no Redis
   */
  remove(write: () => Promise<void>, isApplied: boolean): Promise<void>
}

interface ObjectName {
  readonly namespace: string
  readonly name: string
}

/** Keeps the resources of one kind in a folder. When a write is answered it is in its file and applied. */
export function createFolderKind<T extends KubeObject>(
  kind: FolderKindName,
  access: FolderAccess,
): ResourceStore<T> {
  const { parts } = access
  const asT = (placed: Placed) => objectOf(placed) as KubeObject as T
  const all = (): readonly Placed[] =>
    oldestFirst(parts.files.all()).filter((one) => one.resource.kind === kind)
  /** Of several resources with one name, finds the one that is applied. */
  const find = (name: ObjectName): Placed | undefined => all().find(isNamed(kind, name))

  function present(target: ObjectName): Placed {
    const found = find(target)
    if (found === undefined) throw fault('not_found', `there is no ${kind} ${target.name}`)
    return found
  }

  return {
    read: (namespace, name) =>
      access.read(() => {
        const found = find({ namespace, name })
        if (found === undefined) refuseUnread(parts)
        return found === undefined ? null : asT(found)
      }),
    readAll: (namespace) =>
      access.read(() => {
        const ofTeam = all().filter(({ resource }) => resource.team === namespace)
        return [...new Map(ofTeam.toReversed().map((one) => [one.resource.name, asT(one)])).values()]
      }),
    create: async (object) => {
      await access.edit(() => {
        const found = find(object.metadata)
        if (found !== undefined) {
          throw fault('conflict', `there is ${kind} ${object.metadata.name} already, in ${found.file}`)
        }
        return writeNew(parts, kind, object)
      })
      return asT(present(object.metadata))
    },
    patchSpec: async (target, patch, resourceVersion) => {
      await access.edit(() => {
        const found = present(target)
        refuseOther(found, target.uid, resourceVersion)
        return writePatch(parts, found, patch)
      })
      return asT(present(target))
    },
    remove: (target: ObjectRef) =>
      access.remove(async () => {
        const found = find(target)
        // Another resource has the name, so the one that was meant is gone.
        if (found === undefined || uidOf(found) !== target.uid) return
        // Younger manifests of the name are removed too, or one of them would come to life.
        await writeRemoval(parts, all().filter(isNamed(kind, target)))
      }, kind !== 'Secret'),
  }
}

/** Throws ResourceApiError when the resource is another one. @param version null = any */
function refuseOther(found: Placed, uid: string, version: string | null): void {
  const { metadata, kind } = objectOf(found)
  if (metadata.uid === uid && (version === null || version === metadata.resourceVersion)) return
  throw fault('conflict', `${kind} ${metadata.name} has changed since it was read`)
}

/** While some files are unread, one of them may describe what was not found. Throws EditRefusedError then. */
function refuseUnread({ files }: EditParts): void {
  const unread = files.fault()
  if (unread !== null) throw new EditRefusedError(`The manifest folder ${unread.reason}`)
}

async function writeNew(parts: EditParts, kind: FolderKindName, object: NewObject): Promise<WrittenEdit> {
  const { name, namespace, labels } = object.metadata
  const metadata: ManifestMetadata = { name, namespace: namespace === parts.team ? null : namespace, labels }
  const text = textOf(kind, metadata, object)
  const read = parts.files.reader.read(name, text)
  const made = read.resources[0]
  if (made === undefined || read.problems.length > 0) throw invalid(kind, name, read.problems)
  return writeChange(parts, made, {
    location: null,
    newFile: newFileOf(parts, kind, metadata),
    change: () => text,
  })
}

async function writePatch(
  parts: EditParts,
  found: Placed,
  patch: Readonly<Record<string, unknown>>,
): Promise<WrittenEdit> {
  const { kind, team, name } = found.resource
  const document = {
    apiVersion: API_VERSION,
    kind,
    metadata: { name, namespace: team, ...found.marks },
    spec: mergePatch(found.checked?.spec, patch),
  }
  const read = parts.files.reader.read(name, JSON.stringify(document), [found])
  const wanted = read.resources[0]
  if (wanted === undefined || read.problems.length > 0) throw invalid(kind, name, read.problems)
  return writeChange(parts, wanted, {
    location: found,
    newFile: found.file,
    change: (text, at) => patchSpecText(text, at, patch),
  })
}

/** @param wanted how the file must describe the resource afterwards */
function writeChange(
  parts: EditParts,
  wanted: ReadResource,
  edit: Omit<ManifestEdit, 'isTarget' | 'isDone' | 'key'>,
): Promise<WrittenEdit> {
  const { kind, team: namespace, name } = wanted.resource
  const isTarget = isNamed(kind, { namespace, name })
  return writeEdit(parts, {
    ...edit,
    key: keysOfResource(wanted.resource)[0] ?? null,
    isTarget: (resource) => isTarget({ resource }),
    isDone: (resource) => isDeepStrictEqual(resource, wanted.resource),
  })
}

function textOf(
  kind: FolderKindName,
  metadata: ManifestMetadata,
  { spec, type = '', stringData = {} }: NewObject,
): string {
  if (kind === 'Secret') return newSecretManifest(metadata, { type, values: stringData })
  return newManifest(kind, metadata, { ...(spec as object) })
}

/**
 * Names the file of a first manifest after the resource, or after kind and resource where a valid file of another
 * resource has that name.
 */
function newFileOf(
  { files }: EditParts,
  kind: FolderKindName,
  { name, namespace }: ManifestMetadata,
): string {
  const prefix = namespace === null ? '' : `${namespace}_`
  const whole = `${kind.toLowerCase()}-${name}`
  const [first, other] =
    kind === 'TeamSettings'
      ? ['team-settings', whole]
      : kind === 'ApiToken'
        ? [`token-${name}`, whole]
        : [name, whole]
  const known = files.get(`${prefix}${first}.yaml`)
  const isTaken = known !== undefined && known.candidate === null
  return `${prefix}${isTaken ? other : first}.yaml`
}

function isNamed(
  kind: FolderKindName,
  { namespace: team, name }: ObjectName,
): (placed: Pick<Placed, 'resource'>) => boolean {
  const identity = identityOf({ kind, team, name })
  return ({ resource }) => identityOf(resource) === identity
}

function fault(kind: ResourceApiFault, reason: string): ResourceApiError {
  return new ResourceApiError(kind, `${reason}.`, { source: 'Manifest folder' })
}

/** @param problems the schema's, in the words of an API server */
function invalid(
  kind: FolderKindName,
  name: string,
  problems: ReadonlyArray<Parameters<typeof problemText>[0]>,
): ResourceApiError {
  const reasons = problems.map(({ field, reason }) => (field === null ? reason : `${field}: ${reason}`))
  return new ResourceApiError('invalid', `${kind} ${name} is invalid: ${reasons.join(' ')}`, {
    source: 'Manifest folder',
  })
}
