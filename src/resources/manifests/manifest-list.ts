import { isMap, isScalar, isSeq, type Document, type Node } from 'yaml'
import { shown } from '../schema/crd-schema.ts'
import type { FieldPath, FieldProblem } from '../schema/field-path.ts'
import { isForeign, isSupported, SUPPORTED, type Fields } from './resource-maker.ts'
import { faultText } from './yaml-documents.ts'

/** What describes one resource: a document, or an item of the list that a document is. */
export interface Entry {
  /** From 1; null = the document is no list. */
  readonly item: number | null
  /** From the root of the document. */
  readonly path: FieldPath
  readonly node: unknown
  readonly read: ReadFields
}

type ReadFields = { readonly fields: Fields } | { readonly problem: FieldProblem }

export type Entries = { readonly entries: readonly Entry[] } | { readonly problems: readonly FieldProblem[] }

/** What a typed list says of items that do not say it. */
interface ItemHead {
  readonly apiVersion: string
  readonly kind: string
}

const LIST = 'List'
const LIST_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'items'])
const SUPPORTED_LISTS = `List of v1, and lists of one kind: ${SUPPORTED}`
const NESTED = 'must not be that of a list: put the items of the inner list into the outer one.'
// A list that ends behind `items:` may be half-written, and taking it for an empty one would remove its resources.
const NO_ITEMS = 'must be a list of resources; [] stands for none.'

/** Finds what describes a resource: the document, or the items of a `List` or of a typed one such as `HttpQueueList`. */
export function entriesOf(document: Document): Entries {
  const { contents } = document
  const [apiVersion, kind, items] = isMap(contents)
    ? [contents.get('apiVersion'), contents.get('kind'), contents.get('items', true)]
    : []
  if (!isListKind(apiVersion, kind, isSeq(items))) {
    return { entries: [{ item: null, path: [], node: contents, read: fieldsOf(() => document.toJS()) }] }
  }
  const problems = listProblems(document, apiVersion, kind)
  if (problems.length > 0) return { problems }
  if (!isSeq<Node>(items)) return { problems: [{ path: ['items'], reason: NO_ITEMS }] }
  const head = kind === LIST ? null : { apiVersion: String(apiVersion), kind: itemKindOf(kind) }
  return itemsOf(document, items.items, head)
}

/** A kind of another API group may just end in `List`, so it has to have items as well. */
function isListKind(apiVersion: unknown, kind: unknown, hasItems: boolean): kind is string {
  if (typeof kind !== 'string' || !kind.endsWith(LIST)) return false
  return kind === LIST || hasItems || !isForeign(apiVersion) || isSupported(apiVersion, itemKindOf(kind))
}

function itemKindOf(listKind: string): string {
  return listKind.slice(0, -LIST.length)
}

function listProblems(document: Document, apiVersion: unknown, kind: string): readonly FieldProblem[] {
  if (typeof apiVersion !== 'string') {
    return [{ path: ['apiVersion'], reason: `is required; supported: ${SUPPORTED_LISTS}.` }]
  }
  const isKnown = kind === LIST ? apiVersion === 'v1' : isSupported(apiVersion, itemKindOf(kind))
  if (!isKnown && kind !== LIST && isForeign(apiVersion)) return []
  if (!isKnown) {
    const reason = `${kind} of ${apiVersion} is not supported; supported: ${SUPPORTED_LISTS}.`
    return [{ path: ['kind'], reason }]
  }
  const keys = isMap(document.contents) ? document.contents.items.map(({ key }) => key) : []
  const unknown = keys
    .map((key) => String(isScalar(key) ? key.value : key))
    .filter((field) => !LIST_FIELDS.has(field))
  const reason = `is not a known field of a list; known here: ${[...LIST_FIELDS].join(', ')}.`
  return unknown.map((field) => ({ path: [field], reason }))
}

function itemsOf(document: Document, nodes: readonly Node[], head: ItemHead | null): Entries {
  const whole = fieldsOf(() => document.toJS())
  const values = 'fields' in whole ? (whole.fields['items'] as readonly unknown[]) : null
  const entries = nodes.map((node, index): Entry => {
    // When the list cannot be read, its items are read one by one, so that the problem names the one at fault.
    const read = fieldsOf(() => (values === null ? node.toJS(document) : values[index]))
    return { item: index + 1, path: ['items', index], node, read: asItem(read, head) }
  })
  const isEachRead = entries.every(({ read }) => 'fields' in read)
  return 'problem' in whole && isEachRead ? { problems: [whole.problem] } : { entries }
}

/** Does as kubectl does: an item that says one of apiVersion and kind has to say both. */
function asItem(read: ReadFields, head: ItemHead | null): ReadFields {
  if ('problem' in read) return read
  const { apiVersion = null, kind = null, items } = read.fields
  if (isListKind(apiVersion, kind, Array.isArray(items))) {
    return { problem: { path: ['kind'], reason: `${shown(kind)} ${NESTED}` } }
  }
  return head === null || apiVersion !== null || kind !== null
    ? read
    : { fields: { ...read.fields, ...head } }
}

function fieldsOf(valueOf: () => unknown): ReadFields {
  let value: unknown
  try {
    value = valueOf()
  } catch (error) {
    // Some aliases expand beyond the bound, or have no anchor.
    return { problem: { path: [], reason: `cannot be read: ${faultText(error)}.` } }
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { fields: value as Fields }
  return { problem: { path: [], reason: `${shown(value)} must be a map with apiVersion and kind.` } }
}
