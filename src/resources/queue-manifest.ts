import { createHash } from 'node:crypto'
import { Document, isAlias, isMap, isScalar, isSeq } from 'yaml'
import type { QueueSettings } from '../domain/queue-settings.ts'
import { ORIGIN_LABEL, PUSH_ORIGIN } from './queue-owner.ts'
import { newQueueSpec, specOfSettings } from './queue-spec.ts'
import { API_VERSION } from './resource.ts'
import { isBlank, parseManifest } from './yaml-documents.ts'

const SLUG_CHARACTERS_MAX = 48
const HASH_CHARACTERS = 8

/** `metadata.name` of a queue made by a push: a DNS-safe slug and 8 hex digits, so that no two names meet. */
export function nameOfPushedQueue(queueName: string): string {
  const slug = queueName
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARACTERS_MAX)
    .replaceAll(/^-+|-+$/g, '')
  const hash = createHash('sha256').update(queueName, 'utf8').digest('hex').slice(0, HASH_CHARACTERS)
  return `${slug === '' ? 'queue' : slug}-${hash}`
}

/** The HttpQueue of a queue that a push has made. Its name follows from the queue's, so that it is not made twice. */
export function pushedQueueResource(
  { team, name }: { readonly team: string; readonly name: string },
  settings: QueueSettings,
) {
  return {
    metadata: {
      name: nameOfPushedQueue(name),
      namespace: team,
      labels: { [ORIGIN_LABEL]: PUSH_ORIGIN },
    },
    spec: newQueueSpec(name, settings),
  }
}

/**
 * A manifest of one queue. Settings that are the defaults are left out.
 * @param namespace null = the folder's own team
 */
export function newQueueManifest(
  queueName: string,
  namespace: string | null,
  settings: QueueSettings,
): string {
  const manifest = new Document({
    apiVersion: API_VERSION,
    kind: 'HttpQueue',
    metadata: { name: nameOfPushedQueue(queueName), ...(namespace === null ? {} : { namespace }) },
    spec: {},
  })
  const spec = newQueueSpec(queueName, settings)
  for (const [field, value] of Object.entries(spec)) setField(manifest, field, value)
  return manifest.toString(STYLE)
}

const STYLE = { lineWidth: 0, flowCollectionPadding: false } as const

/**
 * The file's text with some settings of one queue changed; comments and everything else stay.
 * @param document its place in the file, from 1
 * @returns null when the file is written in a way that cannot be changed in place (an alias, say)
 */
export function editQueueManifest(
  text: string,
  document: number,
  change: Partial<QueueSettings>,
): string | null {
  const spec = specOfSettings(change)
  if (isJson(text)) return editJson(text, spec)
  const { documents } = parseManifest(text)
  const edited = documents[document - 1]
  if (edited === undefined || isAlias(edited.get('spec', true))) return null
  if (!isMap(edited.get('spec', true))) edited.set('spec', edited.createNode({}))
  for (const [field, value] of Object.entries(spec)) {
    if (!setField(edited, field, value)) return null
  }
  return documents.map((one) => one.toString(STYLE)).join('')
}

/** The file's text without some of its documents; null when nothing would be left. */
export function removeDocuments(text: string, removed: readonly number[]): string | null {
  const { documents } = parseManifest(text)
  const kept = documents.filter((_, index) => !removed.includes(index + 1))
  if (kept.every(isBlank)) return null
  const [first] = kept
  // The line of hyphens that stood before it belonged to a document that is gone.
  if (first !== undefined && first !== documents[0])
    first.directives = documents[0]?.directives ?? first.directives
  return kept.map((one) => one.toString(STYLE)).join('')
}

/** In place where the value stands already, so that the comment beside it stays. False for an alias. */
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
  // A short list of numbers reads best on one line, unless its owner wrote it otherwise.
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

function editJson(text: string, change: object): string | null {
  const manifest = parseJson(text)
  if (manifest === null) return null
  const spec = { ...(manifest.spec as object | null), ...change }
  return `${JSON.stringify({ ...manifest, spec }, null, 2)}\n`
}
