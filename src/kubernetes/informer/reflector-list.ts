import type { KubeObject, ObjectKey } from '../../ports/kubernetes.ts'
import { errorOfSilence, isFault } from '../client/api-errors.ts'
import {
  LIST_OBJECTS_MAX,
  LIST_PAGE_BYTES_MAX,
  LIST_PAGE_CUT,
  LIST_PAGE_OBJECTS,
  LIST_PAGE_OBJECTS_MIN,
} from '../client/bounds.ts'
import { keyOf } from './indexer.ts'
import { received } from '../client/received-object.ts'
import { collectionPath, type ResourceKind } from '../client/resource-path.ts'
import type { ApiRequest, Transport } from '../client/transport.ts'

interface ListOptions {
  readonly transport: Transport
  readonly kind: ResourceKind
  readonly namespace: string | null
  /** What is known already; nothing when not given. */
  readonly known?: (key: ObjectKey) => KubeObject | undefined
  readonly lean?: (object: KubeObject) => KubeObject
}

interface Page {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly KubeObject[] | null
}

export interface ListedObjects {
  readonly objects: readonly KubeObject[]
  /** From which a watch tells all that came after the list. */
  readonly version: string
}

/** Where a page begins, and how long it is. */
interface PagePlace {
  readonly limit: number
  /** As the page before said; undefined = at the first object. */
  readonly continue: string | undefined
}

/**
 * All objects of one version, in pages. The version is not asked for: the answer is the newest. Throws ResourceApiError.
 */
export async function listObjects(options: ListOptions, signal: AbortSignal): Promise<ListedObjects> {
  const objects: KubeObject[] = []
  let version: string | null = null
  let place: PagePlace = { limit: LIST_PAGE_OBJECTS, continue: undefined }
  for (let asked = 0; asked < LIST_OBJECTS_MAX;) {
    const answer = await nextPage(options, place, signal)
    if (answer === 'expired') return listAtOnce(options, signal)
    const { page, limit } = answer
    version ??= page.metadata.resourceVersion
    for (const item of page.items ?? []) objects.push(knownOrReceived(options, item))
    const next = page.metadata.continue
    if (next === undefined || next === '') return { objects, version }
    // Large objects mostly stand together, as those of one team do: what follows may be smaller again.
    place = { limit: Math.min(limit * 2, LIST_PAGE_OBJECTS), continue: next }
    asked += limit
  }
  throw errorOfSilence(`a list of ${options.kind.plural} has no end`)
}

/**
 * Of an object that has not changed, the copy that is known: to relist is to read what is mostly known, and a second copy
 * of all of it beside the first is more than a pod of the chart's size can hold.
 */
function knownOrReceived({ kind, known, lean }: ListOptions, item: KubeObject): KubeObject {
  const before = known?.(keyOf(item))
  if (before === undefined) return received(item, kind, lean)
  const { uid, resourceVersion } = before.metadata
  const isSame = uid === item.metadata.uid && resourceVersion === item.metadata.resourceVersion
  return isSame ? before : received(item, kind, lean)
}

/** The version of the first pages is gone before the last ones were read, so pages cannot be had. */
async function listAtOnce(options: ListOptions, signal: AbortSignal): Promise<ListedObjects> {
  const { items, metadata } = await read(options, { signal })
  return {
    objects: (items ?? []).map((item) => knownOrReceived(options, item)),
    version: metadata.resourceVersion,
  }
}

async function nextPage(
  options: ListOptions,
  place: PagePlace,
  signal: AbortSignal,
): Promise<{ readonly page: Page; readonly limit: number } | 'expired'> {
  try {
    return await pageThatFits(options, place, signal)
  } catch (error) {
    if (place.continue !== undefined && isFault(error, 'gone')) return 'expired'
    throw error
  }
}

/** Asks for fewer and fewer objects at the same place until the answer is not too large. */
async function pageThatFits(options: ListOptions, place: PagePlace, signal: AbortSignal) {
  for (let { limit } = place; ; limit = Math.max(LIST_PAGE_OBJECTS_MIN, Math.floor(limit / LIST_PAGE_CUT))) {
    try {
      const query = { limit, continue: place.continue }
      return { page: await read(options, { query, answerBytesMax: LIST_PAGE_BYTES_MAX, signal }), limit }
    } catch (error) {
      if (!isFault(error, 'too_large') || limit <= LIST_PAGE_OBJECTS_MIN) throw error
    }
  }
}

function read(
  { transport, kind, namespace }: ListOptions,
  request: Pick<ApiRequest, 'query' | 'answerBytesMax' | 'signal'>,
): Promise<Page> {
  return transport.request<Page>({ method: 'GET', path: collectionPath(kind, namespace), ...request })
}
