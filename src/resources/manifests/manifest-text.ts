import { isDeepStrictEqual } from 'node:util'
import { Document, isAlias, isMap, isScalar, isSeq, type YAMLSeq } from 'yaml'
import { API_VERSION, type ManifestPlace } from '../resource.ts'
import type { FieldPath } from '../schema/field-path.ts'
import { type ItemLines, linesOfItem, startWithComments } from './item-lines.ts'
import { isBlank, parseManifest } from './yaml-documents.ts'

type Fields = Readonly<Record<string, unknown>>

const STYLE = { lineWidth: 0, flowCollectionPadding: false } as const

export interface ManifestMetadata {
  /** `metadata.name`. */
  readonly name: string
  /** null = the folder's own team. */
  readonly namespace: string | null
  readonly labels?: Readonly<Record<string, string>> | undefined
}

/** Writes the manifest of one resource. */
export function newManifest(kind: string, metadata: ManifestMetadata, spec: Fields): string {
  const fields = metadataOf(metadata)
  const manifest = new Document({ apiVersion: API_VERSION, kind, metadata: fields, spec: {} })
  for (const [field, value] of Object.entries(spec)) setField(manifest, ['spec', field], value)
  return manifest.toString(STYLE)
}

export function newSecretManifest(
  metadata: ManifestMetadata,
  { type, values }: { readonly type: string; readonly values: Readonly<Record<string, string>> },
): string {
  const fields = metadataOf(metadata)
  return new Document({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: fields,
    type,
    stringData: values,
  }).toString(STYLE)
}

function metadataOf({ name, namespace, labels }: ManifestMetadata): Fields {
  return {
    name,
    ...(namespace === null ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
  }
}

/** Keeps the settings that differ from the defaults. */
export function changedSettings<T extends object>(settings: T, defaults: Partial<T>): Partial<T> {
  const changed = Object.entries(settings).filter(
    ([name, value]) => !isDeepStrictEqual(value, defaults[name as keyof T]),
  )
  return Object.fromEntries(changed) as Partial<T>
}

/**
 * Changes the spec of one resource in the text of a file by a JSON merge patch; comments and everything else stay.
 * @returns null when the text cannot be edited in place, for example because of an alias
 */
export function patchSpecText(text: string, { document, item }: ManifestPlace, patch: Fields): string | null {
  if (isJson(text)) return patchJson(text, item, patch)
  const { documents } = parseManifest(text)
  const edited = documents[document - 1]
  if (edited === undefined) return null
  const lines = item === null ? null : linesOfItem(text, edited, item)
  if (lines !== null) return patchLines(text, lines, patch)
  if (!patchSpecAt(edited, item === null ? [] : ['items', item - 1], patch)) return null
  const parts = documents.map((one) =>
    one === edited ? one.toString(STYLE) : sourceOf(text, documents, one),
  )
  return parts.join('')
}

/** Writes the lines of an item anew. Read by themselves they are a list of one. */
function patchLines(text: string, { start, end, indent }: ItemLines, patch: Fields): string | null {
  const source = text.slice(start, end)
  const [list] = parseManifest(source).documents
  if (list === undefined || list.errors.length > 0 || !patchSpecAt(list, [0], patch)) return null
  // The anchor of an alias may be in another item. Lists in an item stand as far in as the one it is in.
  const style = { ...STYLE, verifyAliasOrder: false, indentSeq: indent > 0 }
  const edited = list.toString(style).replaceAll(/^(?=.)/gm, ' '.repeat(indent))
  const ended = source.includes('\r\n') ? edited.replaceAll('\n', '\r\n') : edited
  return text.slice(0, start) + ended + text.slice(end)
}

/** Patches what stands at a path of a document. Answers false where that cannot be done in place. */
function patchSpecAt(document: Document, path: FieldPath, patch: Fields): boolean {
  const spec = [...path, 'spec']
  const old = document.getIn(spec, true)
  if (!isMap(document.getIn(path, true)) || isAlias(old)) return false
  if (!isMap(old)) document.setIn(spec, document.createNode({}))
  try {
    return Object.entries(patch).every(([field, value]) => mergeField(document, [...spec, field], value))
  } catch {
    // What is compared with the patch holds an alias to another item.
    return false
  }
}

/** The text of a document as it stands, with the `---` in front of it. */
function sourceOf(text: string, documents: readonly Document[], document: Document): string {
  const at = documents.indexOf(document)
  const start = documents[at - 1]?.range?.[2] ?? 0
  return text.slice(start, at === documents.length - 1 ? undefined : document.range?.[2])
}

/**
 * Applies a JSON merge patch (RFC 7386): null removes a field, a map changes the fields it has, anything else replaces.
 */
export function mergePatch(before: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch
  const merged: Record<string, unknown> = { ...(isFields(before) ? before : {}) }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else merged[name] = mergePatch(merged[name], value)
  }
  return merged
}

/**
 * Removes resources from the text of a file, and a list when it would have no item left; null when nothing would be left.
 * Where others refer to what is removed, the text cannot be read afterwards.
 */
export function removeResources(text: string, places: readonly ManifestPlace[]): string | null {
  const { documents } = parseManifest(text)
  const removed = Map.groupBy(places, ({ document }) => documents[document - 1])
  const kept = documents.flatMap((document) => {
    const source = sourceOf(text, documents, document)
    const items = (removed.get(document) ?? []).map(({ item }) => item).filter((item) => item !== null)
    if (!removed.has(document)) return [{ document, source }]
    const list: unknown = document.get('items', true)
    const isWhole = items.length === 0 || (isSeq(list) && list.items.length === new Set(items).size)
    return isWhole ? [] : [{ document, source: withoutItems(source, items) }]
  })
  if (kept.every(({ document }) => isBlank(document))) return null
  const [first, ...others] = kept.map(({ source }) => source)
  // The `---` in front of the document belonged to one that was removed.
  const isMoved = kept[0]?.document !== documents[0] && documents[0]?.directives?.docStart !== true
  return [isMoved ? first?.replace(/^---[ \t]*(\r?\n)?/, '') : first, ...others].join('')
}

/** @param source the text of one document, which is a list */
function withoutItems(source: string, items: readonly number[]): string {
  if (isJson(source)) return withoutJsonItems(source, items)
  const [document] = parseManifest(source).documents
  if (document === undefined) return source
  return [...items]
    .sort((left, right) => right - left)
    .reduce((text, item) => {
      const lines = linesOfItem(source, document, item)
      if (lines !== null) return text.slice(0, startWithComments(source, lines)) + text.slice(lines.end)
      document.deleteIn(['items', item - 1])
      return document.toString({ ...STYLE, verifyAliasOrder: false })
    }, source)
}

/** Does in place what `mergePatch` does. Answers false for an alias. */
function mergeField(document: Document, path: FieldPath, value: unknown): boolean {
  if (!isFields(value) || !isMap(document.getIn(path, true))) return setField(document, path, value)
  return Object.entries(value).every(([field, inner]) => mergeField(document, [...path, field], inner))
}

/** Replaces a value in place, which keeps its comment. Answers false for an alias. */
function setField(document: Document, path: FieldPath, value: unknown): boolean {
  const old = document.getIn(path, true)
  if (isAlias(old)) return false
  if (old === undefined && value === null) return true
  if (isScalar(old) && (value === null || typeof value !== 'object')) {
    old.value = value
    delete old.source
    delete old.format
    return true
  }
  const node = document.createNode(value)
  // A list of scalars goes on one line, unless the file has it otherwise.
  if (isSeq(node)) {
    node.flow = isSeq(old) ? old.flow === true : node.items.every((item) => isScalar(item))
    if (isSeq(old)) takeOver(document, old, node)
  }
  document.setIn(path, node)
  return true
}

/** Keeps the comments of a list, and those of the entries that stay. */
function takeOver(document: Document, old: YAMLSeq, node: YAMLSeq): void {
  node.comment = old.comment ?? null
  node.commentBefore = old.commentBefore ?? null
  const maps = old.items.filter((item) => isMap(item))
  const isFlow = maps.some((item) => item.flow === true)
  node.items = node.items.map((item) => {
    if (!isMap(item)) return item
    item.flow = isFlow
    return maps.find((one) => isDeepStrictEqual(one.toJS(document), item.toJS(document))) ?? item
  })
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isJson(text: string): boolean {
  return text.trimStart().startsWith('{') && parseJson(text) !== null
}

function parseJson(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return null
  }
}

function patchJson(text: string, item: number | null, patch: Fields): string | null {
  const manifest = parseJson(text)
  if (manifest === null) return null
  const patched = (fields: Fields) => ({ ...fields, spec: mergePatch(fields['spec'], patch) })
  if (item === null) return jsonText(text, patched(manifest))
  const items = manifest['items']
  const edited: unknown = Array.isArray(items) ? items[item - 1] : undefined
  if (!Array.isArray(items) || !isFields(edited)) return null
  return jsonText(text, { ...manifest, items: items.with(item - 1, patched(edited)) })
}

function withoutJsonItems(text: string, removed: readonly number[]): string {
  const list = parseJson(text)
  const items = list?.['items']
  if (!Array.isArray(items)) return text
  return jsonText(text, { ...list, items: items.filter((_, index) => !removed.includes(index + 1)) })
}

/** Indents as the text did. */
function jsonText(text: string, manifest: Fields): string {
  const indent = /^\s*\{\r?\n([ \t]+)/.exec(text)?.[1] ?? 2
  return `${JSON.stringify(manifest, null, indent)}\n`
}
