import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ManifestReader, ReadResource } from '../../resources/manifests/manifest-reader.ts'
import { removeDocuments } from '../../resources/manifests/manifest-text.ts'
import type { Resource } from '../../resources/resource.ts'
import type { FolderFiles } from '../files/folder-files.ts'
import { FILE_BYTES_MAX, FILES_MAX } from '../files/folder-scanner.ts'
import { syncFolder, writeWhole } from '../files/whole-file.ts'

/** Why a manifest was not touched, as a sentence for the person who asked. */
export interface RefusedEdit {
  readonly status: 'refused'
  readonly reason: string
}

export type EditResult<Settings> = { readonly status: 'edited'; readonly settings: Settings } | RefusedEdit

/** An edit that stands in its file and is not in force yet. */
export interface WrittenEdit<Settings> {
  readonly status: 'edited'
  readonly settings: Settings
  /** What it changes, as `keysOf` names it. */
  readonly key: string
  /** Gives the file the text it had, unless somebody else has changed it since. */
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

/** Where a manifest stands. */
export interface ManifestPlace {
  readonly file: string
  /** From 1. */
  readonly document: number
}

export interface ManifestEdit {
  /** null = there is none yet. */
  readonly place: ManifestPlace | null
  /** The file of a first manifest. */
  readonly newFile: string
  /** The text of a first manifest. */
  readonly make: () => string
  /** The file's text after the edit; null when it cannot be changed in place. */
  readonly change: (text: string, document: number) => string | null
  /** Whether a resource is the one that is edited. */
  readonly isMeant: (resource: Resource) => boolean
  /** Whether it says what it is to say. */
  readonly isDone: (resource: Resource) => boolean
}

/** What is in force is not touched. @returns how to take it back, when it is written */
export async function writeEdit(
  { folder, files }: EditParts,
  { place, newFile, make, change, isMeant, isDone }: ManifestEdit,
): Promise<RefusedEdit | { readonly status: 'written'; readonly undo: Undo }> {
  const file = place?.file ?? newFile
  const known = files.get(file)
  if (known !== undefined && (place === null || known.candidate !== null)) {
    return refused(unsettledText(file))
  }
  if (place === null && files.isFull()) {
    return refused(
      `The folder of manifests holds ${FILES_MAX} manifests, the most allowed: remove one first.`,
    )
  }
  const text = place === null ? make() : change(known?.good?.text ?? '', place.document)
  const before = known?.good?.resources ?? []
  if (text === null || !says(files.reader, { file, text, before, isMeant, isDone })) {
    return refused(`${file} is written in a way that cannot be changed from here: edit the file itself.`)
  }
  if (isTooLarge(text)) return refused(tooLargeText(file, text))
  const path = join(folder, file)
  const fault = await failureOf(() => writeWhole(path, text, 0o644))
  if (fault !== null) return refused(`${file} cannot be written: ${fault}.`)
  files.replace(file, text)
  const former = known?.good?.text ?? null
  const undo = async (): Promise<void> => {
    if ((await readFile(path, 'utf8').catch(() => null)) !== text) return
    await (former === null ? removeFile(folder, path) : writeWhole(path, former, 0o644))
    files.replace(file, former)
  }
  return { status: 'written', undo }
}

async function removeFile(folder: string, path: string): Promise<void> {
  await rm(path, { force: true })
  await syncFolder(folder)
}

/** Takes manifests out of the folder. */
export async function writeRemoval(
  { folder, files }: EditParts,
  places: readonly ManifestPlace[],
): Promise<Removal> {
  if (places.length === 0) return { status: 'not_found' }
  const names = [...new Set(places.map((place) => place.file))]
  const unsettled = names.find((name) => files.get(name)?.candidate !== null)
  if (unsettled !== undefined) return refused(unsettledText(unsettled))
  for (const name of names) {
    const documents = places.filter((place) => place.file === name).map((place) => place.document)
    const text = removeDocuments(files.get(name)?.good?.text ?? '', documents)
    if (text !== null && isTooLarge(text)) return refused(tooLargeText(name, text))
    const path = join(folder, name)
    const fault = await failureOf(() =>
      text === null ? removeFile(folder, path) : writeWhole(path, text, 0o644),
    )
    if (fault !== null) return refused(`${name} cannot be changed: ${fault}.`)
    files.replace(name, text)
  }
  return { status: 'removed' }
}

/** @param name `metadata.name`, or what is as good */
export function newFileName(name: string, team: string, ownTeam: string): string {
  return `${team === ownTeam ? '' : `${team}_`}${name}.yaml`
}

/** Whether the text describes the resource as it is to be, and everything else in it as it was. */
function says(
  reader: ManifestReader,
  edit: Pick<ManifestEdit, 'isMeant' | 'isDone'> & {
    readonly file: string
    readonly text: string
    readonly before: readonly ReadResource[]
  },
): boolean {
  const { resources, problems } = reader.read(edit.file, edit.text)
  const others = (all: readonly ReadResource[]) =>
    JSON.stringify(all.filter(({ resource }) => !edit.isMeant(resource)))
  return (
    problems.length === 0 &&
    resources.some(({ resource }) => edit.isMeant(resource) && edit.isDone(resource)) &&
    others(resources) === others(edit.before)
  )
}

/** It would not be read any more, so nothing in it could be changed from here. */
function isTooLarge(text: string): boolean {
  return Buffer.byteLength(text) > FILE_BYTES_MAX
}

function tooLargeText(file: string, text: string): string {
  return `${file} would have ${Buffer.byteLength(text)} bytes; at most ${FILE_BYTES_MAX} are allowed.`
}

function unsettledText(file: string): string {
  return `${file} is being changed or is not valid: mend the file first.`
}

function refused(reason: string): RefusedEdit {
  return { status: 'refused', reason }
}

async function failureOf(run: () => Promise<void>): Promise<string | null> {
  try {
    await run()
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
