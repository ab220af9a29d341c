import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { reasonOf } from '../../domain/errors.ts'
import type { ManifestReader, ReadResource } from '../../resources/manifests/manifest-reader.ts'
import { removeDocuments } from '../../resources/manifests/manifest-text.ts'
import type { Resource } from '../../resources/resource.ts'
import type { FolderFiles } from '../files/folder-files.ts'
import { FILE_BYTES_MAX, FILES_MAX } from '../files/folder-scanner.ts'
import { removeFile, writeFileAtomically } from '../files/atomic-file.ts'

export interface RefusedEdit {
  readonly status: 'refused'
  /** A sentence that says why the manifest was not changed. */
  readonly reason: string
}

export type EditResult<Settings> = { readonly status: 'edited'; readonly settings: Settings } | RefusedEdit

/** An edit that is in its file and not applied yet. */
export interface WrittenEdit<Settings> {
  readonly status: 'edited'
  readonly settings: Settings
  /** What it changes, one of `keysOf`. */
  readonly key: string
  /** Restores the file's former text, unless the file has changed since. */
  readonly undo: () => Promise<void>
}

type Undo = WrittenEdit<unknown>['undo']

export type Removal =
  | { readonly status: 'removed' }
  /** No manifest describes it. */
  | { readonly status: 'not_found' }
  | RefusedEdit

export interface EditParts {
  readonly folder: string
  /** The team of manifests without a namespace. */
  readonly team: string
  readonly files: FolderFiles
}

export interface ManifestPlace {
  readonly file: string
  /** Counts from 1. */
  readonly document: number
}

export interface ManifestEdit {
  /** null when no manifest describes the resource yet. */
  readonly place: ManifestPlace | null
  /** File and text of a first manifest. */
  readonly newFile: string
  /** Permissions of a first manifest; anybody may read it when absent. */
  readonly newMode?: number
  readonly make: () => string
  /** The file's text after the edit; null when it cannot be edited in place. */
  readonly change: (text: string, document: number) => string | null
  readonly isTarget: (resource: Resource) => boolean
  /** Whether the resource has the settings that the edit asks for. */
  readonly isDone: (resource: Resource) => boolean
}

/** Writes an edit into its file, if the file then reads as intended. Does not apply it. */
export async function writeEdit(
  { folder, files }: EditParts,
  { place, newFile, newMode = 0o644, make, change, isTarget, isDone }: ManifestEdit,
): Promise<RefusedEdit | { readonly status: 'written'; readonly undo: Undo }> {
  const file = place?.file ?? newFile
  const known = files.get(file)
  if (known !== undefined && (place === null || known.candidate !== null)) {
    return refused(pendingText(file))
  }
  if (place === null && files.isFull()) {
    return refused(`The manifest folder holds ${FILES_MAX} manifests, the most allowed: remove one first.`)
  }
  const text = place === null ? make() : change(known?.good?.text ?? '', place.document)
  const before = known?.good?.resources ?? []
  if (text === null || !says(files.reader, { file, text, before, isTarget, isDone })) {
    return refused(`${file} is written in a way that the API cannot edit: change the file itself.`)
  }
  if (isTooLarge(text)) return refused(tooLargeText(file, text))
  const path = join(folder, file)
  const fault = await failureOf(() => writeFileAtomically(path, text, newMode))
  if (fault !== null) return refused(`${file} cannot be written: ${fault}.`)
  files.replace(file, text)
  const former = known?.good?.text ?? null
  const undo = async (): Promise<void> => {
    if ((await readFile(path, 'utf8').catch(() => null)) !== text) return
    await (former === null ? removeFile(path) : writeFileAtomically(path, former, 0o644))
    files.replace(file, former)
  }
  return { status: 'written', undo }
}

export async function writeRemoval(
  { folder, files }: EditParts,
  places: readonly ManifestPlace[],
): Promise<Removal> {
  if (places.length === 0) return { status: 'not_found' }
  const names = [...new Set(places.map((place) => place.file))]
  const pending = names.find((name) => files.get(name)?.candidate !== null)
  if (pending !== undefined) return refused(pendingText(pending))
  for (const name of names) {
    const documents = places.filter((place) => place.file === name).map((place) => place.document)
    const text = removeDocuments(files.get(name)?.good?.text ?? '', documents)
    if (text !== null && isTooLarge(text)) return refused(tooLargeText(name, text))
    const path = join(folder, name)
    const fault = await failureOf(() =>
      text === null ? removeFile(path) : writeFileAtomically(path, text, 0o644),
    )
    if (fault !== null) return refused(`${name} cannot be changed: ${fault}.`)
    files.replace(name, text)
  }
  return { status: 'removed' }
}

/** Whether the text describes the target as intended and everything else as before. */
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

/** A larger file is not read, so the API could not edit it again. */
function isTooLarge(text: string): boolean {
  return Buffer.byteLength(text) > FILE_BYTES_MAX
}

function tooLargeText(file: string, text: string): string {
  return `${file} would have ${Buffer.byteLength(text)} bytes; at most ${FILE_BYTES_MAX} are allowed.`
}

function pendingText(file: string): string {
  return `${file} is being changed or is not valid: fix the file first.`
}

function refused(reason: string): RefusedEdit {
  return { status: 'refused', reason }
}

async function failureOf(run: () => Promise<void>): Promise<string | null> {
  try {
    await run()
    return null
  } catch (error) {
    return reasonOf(error)
  }
}
