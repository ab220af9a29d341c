/** The answers of a fake API server when nothing goes wrong. */
import type { Verb } from './fake-api-faults.ts'
import { Refusal, notFound } from './fake-api-objects.ts'
import type { Collection, FakeObject, FakeObjects, Place } from './fake-api-objects.ts'
import type { Json } from './fake-api-patches.ts'
import { apiVersionOf, selectorOf, type Route } from './fake-api-routes.ts'

export interface Call {
  readonly verb: Exclude<Verb, 'watch'>
  readonly route: Route
  readonly query: URLSearchParams
  readonly body: Json
  readonly contentType: string
}

interface Page {
  readonly version: number
  readonly rest: readonly FakeObject[]
}

/** Carries out a request. Throws Refusal. */
export function createFakeAnswers(objects: FakeObjects): (call: Call) => unknown {
  const pages = new Map<string, Page>()

  function list(route: Route, query: URLSearchParams): Json {
    const page = pageOf(route, query)
    const limit = Number(query.get('limit') ?? 0) || Number.POSITIVE_INFINITY
    const { collection } = route
    const items = page.rest.slice(0, limit).map(isBuiltIn(collection) ? withoutKind : (item) => item)
    const metadata = { resourceVersion: String(page.version), ...keepRest(page, limit) }
    return {
      kind: `${objects.kindOf(collection)}List`,
      apiVersion: apiVersionOf(collection),
      metadata,
      items,
    }
  }

  function pageOf({ collection, namespace }: Route, query: URLSearchParams): Page {
    const token = query.get('continue')
    if (token === null) {
      return { version: objects.version, rest: objects.list(collection, namespace).filter(selectorOf(query)) }
    }
    const page = pages.get(token)
    if (page !== undefined && page.version >= objects.floor) return page
    throw new Refusal(410, 'Expired', 'The provided continue parameter is too old')
  }

  function keepRest({ version, rest }: Page, limit: number): { readonly continue?: string } {
    if (rest.length <= limit) return {}
    const token = `page-${pages.size + 1}`
    pages.set(token, { version, rest: rest.slice(limit) })
    return { continue: token }
  }

  function read(place: Place): FakeObject {
    const object = objects.get(place)
    if (object === undefined) throw notFound(place)
    return object
  }

  return ({ verb, route, query, body, contentType }) => {
    if (verb === 'list') return list(route, query)
    const place = { ...route, name: route.name ?? nameOf(body) }
    const options = {
      subresource: route.subresource,
      fieldManager: query.get('fieldManager') ?? 'unknown',
    }
    switch (verb) {
      case 'get':
        return read(place)
      case 'create':
        return objects.create(place, body, options)
      case 'update':
        return objects.update(place, body, options)
      case 'delete':
        return objects.remove(place, (body.preconditions ?? {}) as Json)
      case 'patch':
        if (contentType === 'application/merge-patch+json') return objects.patch(place, body, options)
        if (contentType !== 'application/apply-patch+yaml') {
          throw new Refusal(415, 'UnsupportedMediaType', `the fake does not know ${contentType}`)
        }
        if (query.get('force') === 'true') return objects.apply(place, body, options)
        throw new Refusal(409, 'Conflict', 'the fake applies only with force')
    }
  }
}

/** As in the real one, the items of a list of built-in objects lack their kind. */
function isBuiltIn(collection: Collection): boolean {
  return !collection.startsWith('/apis/punctual.dev/')
}

function withoutKind({ apiVersion: _apiVersion, kind: _kind, ...item }: FakeObject): Json {
  return item
}

function nameOf({ metadata }: Json): string {
  const { name } = (metadata ?? {}) as { readonly name?: string }
  if (name === undefined) throw new Refusal(422, 'Invalid', 'name is required')
  return name
}
