import type { KubeObject } from '../ports/kube-object.ts'
import { errorOfSilence, isFault } from './api-errors.ts'
import { LIST_PAGES_MAX, LIST_PAGE_OBJECTS } from './bounds.ts'
import { received } from './received-object.ts'
import { collectionPath, type ResourceKind } from './resource-path.ts'
import type { Transport } from './transport.ts'

interface ListOptions {
  readonly transport: Transport
  readonly kind: ResourceKind
  readonly namespace: string | null
}

interface Page {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly unknown[] | null
}

export interface ListedObjects {
  readonly objects: readonly KubeObject[]
  /** From which a watch tells all that came after the list. */
  readonly version: string
}

/**
 * All objects of one version, in pages. The version is not asked for: the answer is the newest. Throws ResourceApiError.
 */
export async function listObjects(options: ListOptions, signal: AbortSignal): Promise<ListedObjects> {
  const objects: KubeObject[] = []
  let page: Page = await readPage(options, { limit: LIST_PAGE_OBJECTS }, signal)
  const version = page.metadata.resourceVersion
  for (let pages = 1; ; pages += 1) {
    for (const item of page.items ?? []) objects.push(received(item, options.kind))
    const next = page.metadata.continue
    if (next === undefined || next === '') return { objects, version }
    if (pages >= LIST_PAGES_MAX) throw errorOfSilence(`a list of ${options.kind.plural} has no end`)
    const following = await nextPage(options, next, signal)
    if (following === 'expired') return listAtOnce(options, signal)
    page = following
  }
}

/** The version of the first pages is gone before the last ones were read, so pages cannot be had. */
async function listAtOnce(options: ListOptions, signal: AbortSignal): Promise<ListedObjects> {
  const { items, metadata } = await readPage(options, {}, signal)
  return {
    objects: (items ?? []).map((item) => received(item, options.kind)),
    version: metadata.resourceVersion,
  }
}

async function nextPage(options: ListOptions, next: string, signal: AbortSignal): Promise<Page | 'expired'> {
  try {
    return await readPage(options, { limit: LIST_PAGE_OBJECTS, continue: next }, signal)
  } catch (error) {
    if (isFault(error, 'gone')) return 'expired'
    throw error
  }
}

function readPage(
  { transport, kind, namespace }: ListOptions,
  query: Readonly<Record<string, string | number>>,
  signal: AbortSignal,
): Promise<Page> {
  return transport.request<Page>({ method: 'GET', path: collectionPath(kind, namespace), query, signal })
}
