import { isDeepStrictEqual } from 'node:util'
import { Document, isAlias, isMap, isScalar, isSeq } from 'yaml'
import { API_VERSION } from '../resource.ts'
import { isBlank, parseManifest } from './yaml-documents.ts'

type Fields = Readonly<Record<string, unknown>>

const STYLE = { lineWidth: 0, flowCollectionPadding: false } as const

/**
 * A manifest of one resource.
 * @param place.namespace null = the folder's own team
 */
export function newManifest(
  kind: string,
  { name, namespace }: { readonly name: string; readonly namespace: string | null },
  spec: Fields,
): string {
  const manifest = new Document({
    apiVersion: API_VERSION,
    kind,
    metadata: { name, ...(namespace === null ? {} : { namespace }) },
    spec: {},
  })
  for (const [field, value] of Object.entries(spec)) setField(manifest, field, value)
  return manifest.toString(STYLE)
}

/**
 * A manifest of a Secret.
 * @param place.namespace null = the folder's own team
 */
export function newSecretManifest(
  { name, namespace }: { readonly name: string; readonly namespace: string | null },
  { type, values }: { readonly type: string; readonly values: Readonly<Record<string, string>> },
): string {
  return new Document({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, ...(namespace === null ? {} : { namespace }) },
    type,
    stringData: values,
  }).toString(STYLE)
}

/** The settings that differ from the defaults. */
export function changedSettings<T extends object>(settings: T, defaults: Partial<T>): Partial<T> {
  const changed = Object.entries(settings).filter(
    ([name, value]) => !isDeepStrictEqual(value, defaults[name as keyof T]),
  )
  return Object.fromEntries(changed) as Partial<T>
}

/**
 * Changes fields of one resource's spec in the text of a file; comments and everything else stay.
 * @param document its number in the file, from 1
 * @param spec null removes a field
 * @returns null when the text cannot be edited in place, for example because of an alias
 */
export function editSpec(text: string, document: number, spec: Fields): string | null {
  return editDocument(text, document, {
    json: (before) => ({ ...before, ...spec }),
    yaml: (edited) => Object.entries(spec).every(([field, value]) => setField(edited, field, value)),
  })
}

/**
 * As `editSpec`, in a way of the caller's.
 * @param edit.yaml gets a document whose spec is a map; false = it cannot be edited in place
 */
export function editDocument(
  text: string,
  document: number,
  edit: { readonly json: (spec: Fields) => Fields; readonly yaml: (edited: Document) => boolean },
): string | null {
  if (isJson(text)) return editJson(text, edit.json)
  const { documents } = parseManifest(text)
  const edited = documents[document - 1]
  if (edited === undefined || isAlias(edited.get('spec', true))) return null
  if (!isMap(edited.get('spec', true))) edited.set('spec', edited.createNode({}))
  if (!edit.yaml(edited)) return null
  return documents.map((one) => one.toString(STYLE)).join('')
}

/** Removes documents from the text of a file; null when nothing would be left. */
export function removeDocuments(text: string, removed: readonly number[]): string | null {
  const { documents } = parseManifest(text)
  const kept = documents.filter((_, index) => !removed.includes(index + 1))
  if (kept.every(isBlank)) return null
  const [first] = kept
  // The `---` in front of it belonged to a removed document.
  if (first !== undefined && first !== documents[0])
    first.directives = documents[0]?.directives ?? first.directives
  return kept.map((one) => one.toString(STYLE)).join('')
}

/** Replaces a value in place, which keeps its comment. false for an alias. */
function setField(document: Document, field: string, value: unknown): boolean {
  const old = document.getIn(['spec', field], true)
  if (isAlias(old)) return false
  if (old === undefined && value === null) return true
  if (isScalar(old) && (value === null || typeof value !== 'object')) {
    old.value = value
    delete old.source
    delete old.format
    return true
  }
  const node = document.createNode(value)
  // Lists of scalars go on one line, unless the file has them otherwise.
  if (isSeq(node)) {
    node.flow = isSeq(old) ? old.flow === true : node.items.every((item) => isScalar(item))
    if (isSeq(old)) {
      node.comment = old.comment ?? null
      node.commentBefore = old.commentBefore ?? null
    }
  }
  document.setIn(['spec', field], node)
  return true
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

function editJson(text: string, change: (spec: Fields) => Fields): string | null {
  const manifest = parseJson(text)
  if (manifest === null) return null
  const spec = change({ ...(manifest.spec as object | null) })
  return `${JSON.stringify({ ...manifest, spec }, null, 2)}\n`
}
