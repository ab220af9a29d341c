import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { EditRefusedError, reasonOf } from '../../domain/errors.ts'
import type { ManifestReader, ReadResource } from '../../resources/manifests/manifest-reader.ts'
import { removeResources } from '../../resources/manifests/manifest-text.ts'
import type { ManifestPlace, Resource } from '../../resources/resource.ts'
import type { FolderFiles } from '../files/folder-files.ts'
import { FILE_BYTES_MAX, FILES_MAX } from '../files/folder-scanner.ts'
import { removeFile, writeFileAtomically } from '../files/atomic-file.ts'

/** An edit that is in its file and not applied yet. */
export interface WrittenEdit {
  /** The key, one of `keysOf`, of what the edit changes; null = nothing that is applied by itself. */
  readonly key: string | null
  /** Restores the file's former text, unless the file has changed since. */
  readonly undo: () => Promise<void>
}

export interface EditParts {
  readonly folder: string
  /** The team of manifests without a namespace. */
  readonly team: string
  readonly files: FolderFiles
}

export interface ManifestLocation extends ManifestPlace {
  readonly file: string
}

export interface ManifestEdit {
  readonly key: WrittenEdit['key']
  /** null = no manifest describes the resource yet. */
  readonly location: ManifestLocation | null
  /** The file that a first manifest is written to. */
  readonly newFile: string
  /** Makes the file's new text from the old one, which is '' for a new file; null = it cannot be edited in place. */
  readonly change: (text: string, place: ManifestPlace) => string | null
  readonly isTarget: (resource: Resource) => boolean
  /** Tells whether the resource is as the edit asks for. */
  readonly isDone: (resource: Resource) => boolean
}

/**
 * The permissions of a new file. Nobody but this user may read it: beside Secrets, crons have payloads and header values in
 * plain text. A file that is there keeps its own.
 */
const NEW_MODE = 0o600

/** Of a new file. */
const FIRST: ManifestPlace = { document: 1, item: null }

/** Writes an edit into its file, if the file then reads as intended. Does not apply it. Throws EditRefusedError. */
export async function writeEdit({ folder, files }: EditParts, edit: ManifestEdit): Promise<WrittenEdit> {
  const { location, newFile, change, isTarget, isDone } = edit
  const file = location?.file ?? newFile
  const known = files.get(file)
  if (known !== undefined && (location === null || known.candidate !== null)) {
    throw new EditRefusedError(pendingText(file))
  }
  if (location === null && files.isFull()) {
    throw new EditRefusedError(
      `The manifest folder holds ${FILES_MAX} manifests, the most allowed: remove one first.`,
    )
  }
  const text = change(known?.good?.text ?? '', location ?? FIRST)
  const before = known?.good?.resources ?? []
  if (text === null || !says(files.reader, { file, text, before, isTarget, isDone })) {
    throw new EditRefusedError(notEditableText(file))
  }
  refuseTooLarge(file, text)
  const path = join(folder, file)
  const write = () => writeFileAtomically(path, text, NEW_MODE)
  await orRefuse(write, (fault) => `${file} cannot be written: ${fault}.`)
  files.replace(file, text)
  const former = known?.good?.text ?? null
  return {
    key: edit.key,
    undo: async () => {
      if ((await readFile(path, 'utf8').catch(() => null)) !== text) return
      await (former === null ? removeFile(path) : writeFileAtomically(path, former, NEW_MODE))
      files.replace(file, former)
    },
  }
}

/** Takes resources out of their files, and removes files that have no others. Throws EditRefusedError. */
export async function writeRemoval(
  { folder, files }: EditParts,
  locations: readonly ManifestLocation[],
): Promise<void> {
  const names = [...new Set(locations.map((one) => one.file))]
  const pending = names.find((name) => files.get(name)?.candidate !== null)
  if (pending !== undefined) throw new EditRefusedError(pendingText(pending))
  for (const name of names) {
    const places = locations.filter((one) => one.file === name)
    const { text: former = '', resources = [] } = files.get(name)?.good ?? {}
    const text = removeResources(former, places)
    if (text !== null) {
      const kept = resources.filter((one) => !places.some((place) => isAt(one, place)))
      if (!saysOnly(files.reader, { file: name, text, kept }))
        throw new EditRefusedError(notEditableText(name))
      refuseTooLarge(name, text)
    }
    const path = join(folder, name)
    const write = () => (text === null ? removeFile(path) : writeFileAtomically(path, text, NEW_MODE))
    await orRefuse(write, (fault) => `${name} cannot be changed: ${fault}.`)
    files.replace(name, text)
  }
}

/** Tells whether the text describes the target as intended and everything else as before. */
function says(
  reader: ManifestReader,
  edit: Pick<ManifestEdit, 'isTarget' | 'isDone'> & {
    readonly file: string
    readonly text: string
    readonly before: readonly ReadResource[]
  },
): boolean {
  const { resources, problems } = reader.read(edit.file, edit.text)
  const others = (all: readonly ReadResource[]) =>
    JSON.stringify(all.filter(({ resource }) => !edit.isTarget(resource)))
  return (
    problems.length === 0 &&
    resources.some(({ resource }) => edit.isTarget(resource) && edit.isDone(resource)) &&
    others(resources) === others(edit.before)
  )
}

/** Tells whether the text describes these resources as before, wherever they stand in it, and no others. */
function saysOnly(
  reader: ManifestReader,
  edit: { readonly file: string; readonly text: string; readonly kept: readonly ReadResource[] },
): boolean {
  const { resources, problems } = reader.read(edit.file, edit.text)
  const said = (all: readonly ReadResource[]) =>
    JSON.stringify(all.map(({ resource, checked, marks }) => [resource, checked, marks]))
  return problems.length === 0 && said(resources) === said(edit.kept)
}

function isAt(one: ManifestPlace, place: ManifestPlace): boolean {
  return one.document === place.document && one.item === place.item
}

/** A larger file would not be read, and the API could not edit it again. */
function refuseTooLarge(file: string, text: string): void {
  const bytes = Buffer.byteLength(text)
  if (bytes <= FILE_BYTES_MAX) return
  throw new EditRefusedError(`${file} would have ${bytes} bytes; at most ${FILE_BYTES_MAX} are allowed.`)
}

function notEditableText(file: string): string {
  return `${file} is written in a way that the API cannot edit: change the file itself.`
}

function pendingText(file: string): string {
  return `${file} is being changed or is not valid: fix the file first.`
}

async function orRefuse(write: () => Promise<void>, textOf: (fault: string) => string): Promise<void> {
  try {
    await write()
  } catch (error) {
    throw new EditRefusedError(textOf(reasonOf(error)), { cause: error })
  }
}
