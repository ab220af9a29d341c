import { isFault } from '../../domain/errors.ts'
import type { ObjectKey } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import { errorOfSilence } from '../client/api-errors.ts'
import { received } from '../client/received-object.ts'
import { collectionPath, type ResourceKind } from '../client/resource-path.ts'
import type { ApiRequest, Transport } from '../client/transport.ts'
import { keyOf } from './indexer.ts'

export const LIST_PAGE_OBJECTS = 500
/** A page is in memory both as text and as objects, besides all that is known, in a process of a few hundred MiB. */
export const LIST_PAGE_BYTES_MAX = 16 * 1024 * 1024
/** The page size is divided by this when a page is too large. */
const LIST_PAGE_DIVISOR = 10
/** This few objects always fit, as etcd takes 1.5 MiB for each. */
export const LIST_PAGE_OBJECTS_MIN = 5
/** A list with more objects is taken to have no end, and is a fault. */
export const LIST_OBJECTS_MAX = 200_000

interface ListOptions {
  readonly transport: Transport
  readonly kind: ResourceKind
  readonly namespace: string | null
  /** Lists only objects with these labels; absent = all. */
  readonly labelSelector?: string | undefined
  /** Finds the copy that is kept already. */
  readonly known?: (key: ObjectKey) => KubeObject | undefined
  readonly transform?: ((object: KubeObject) => KubeObject) | undefined
}

interface Page {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly KubeObject[] | null
}

export interface ListedObjects {
  readonly objects: readonly KubeObject[]
  /** A watch from here sees every change after the list. */
  readonly version: string
}

interface PageQuery {
  readonly limit: number
  /** The token of the previous page; undefined = the list starts with the first object. */
  readonly continue: string | undefined
}

/** Lists all objects at the newest version, in pages. Throws ResourceApiError. */
export async function listObjects(options: ListOptions, signal: AbortSignal): Promise<ListedObjects> {
  const objects: KubeObject[] = []
  let version: string | null = null
  let query: PageQuery = { limit: LIST_PAGE_OBJECTS, continue: undefined }
  for (let requested = 0; requested < LIST_OBJECTS_MAX;) {
    const answer = await nextPage(options, query, signal)
    if (answer === 'expired') return listUnpaged(options, signal)
    const { page, limit } = answer
    version ??= page.metadata.resourceVersion
    for (const item of page.items ?? []) objects.push(knownOrReceived(options, item))
    const next = page.metadata.continue
    if (next === undefined || next === '') return { objects, version }
    // Large objects mostly come together, being of one team, so the page grows again after them.
    query = { limit: Math.min(limit * 2, LIST_PAGE_OBJECTS), continue: next }
    requested += limit
  }
  throw errorOfSilence(`a list of ${options.kind.plural} has no end`)
}

/**
 * Reuses the copy of an object that has not changed. A relist mostly reads what is known, and a second copy of everything
 * does not fit into a pod of the chart's size.
 */
function knownOrReceived({ kind, known, transform }: ListOptions, item: KubeObject): KubeObject {
  const before = known?.(keyOf(item))
  if (before === undefined) return received(item, kind, transform)
  const { uid, resourceVersion } = before.metadata
  const isSame = uid === item.metadata.uid && resourceVersion === item.metadata.resourceVersion
  return isSame ? before : received(item, kind, transform)
}

/** Lists without pages, after etcd compacted the version of the first pages before the last one was read. */
async function listUnpaged(options: ListOptions, signal: AbortSignal): Promise<ListedObjects> {
  const { items, metadata } = await read(options, { signal })
  return {
    objects: (items ?? []).map((item) => knownOrReceived(options, item)),
    version: metadata.resourceVersion,
  }
}

/** Lowers the limit until the answer is not too large. */
async function nextPage(
  options: ListOptions,
  { limit: first, continue: token }: PageQuery,
  signal: AbortSignal,
): Promise<{ readonly page: Page; readonly limit: number } | 'expired'> {
  for (let limit = first; ; limit = Math.max(LIST_PAGE_OBJECTS_MIN, Math.floor(limit / LIST_PAGE_DIVISOR))) {
    try {
      const query = { limit, continue: token }
      return { page: await read(options, { query, answerBytesMax: LIST_PAGE_BYTES_MAX, signal }), limit }
    } catch (error) {
      if (token !== undefined && isFault(error, 'gone')) return 'expired'
      if (!isFault(error, 'too_large') || limit <= LIST_PAGE_OBJECTS_MIN) throw error
    }
  }
}

function read(
  { transport, kind, namespace, labelSelector }: ListOptions,
  request: Pick<ApiRequest, 'query' | 'answerBytesMax' | 'signal'>,
): Promise<Page> {
  const query = { ...request.query, labelSelector }
  return transport.request<Page>({ method: 'GET', path: collectionPath(kind, namespace), ...request, query })
}
