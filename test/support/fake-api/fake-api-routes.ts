/** What the paths and queries of a fake API server mean. */
import type { Verb } from './fake-api-faults.ts'
import type { Collection, FakeObject, Place } from './fake-api-objects.ts'
import type { Json } from './fake-api-patches.ts'

export interface Route extends Omit<Place, 'name'> {
  /** null = the whole collection. */
  readonly name: string | null
  readonly subresource: string | null
}

const PATH =
  /^(?<root>\/api\/[^/]+|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+)(?:\/(?<subresource>[^/]+))?)?$/

/** null = no path of the Kubernetes API. */
export function routeOf(path: string): Route | null {
  const groups = PATH.exec(path)?.groups
  if (groups === undefined) return null
  const { root, namespace, plural, name, subresource } = groups
  return {
    collection: `${root}/${plural}`,
    namespace: namespace ?? null,
    name: name ?? null,
    subresource: subresource ?? null,
  }
}

/** Of an object, or of a collection whose `name` is then empty. Throws for other paths. */
export function placeOf(path: string): Place {
  const route = routeOf(path)
  if (route === null) throw new Error(`the fake API server knows no ${path}`)
  return { collection: route.collection, namespace: route.namespace, name: route.name ?? '' }
}

export function verbOf(method: string, { name }: Route, query: URLSearchParams): Verb {
  if (method === 'POST') return 'create'
  if (method === 'PUT') return 'update'
  if (method === 'PATCH') return 'patch'
  if (method === 'DELETE') return 'delete'
  if (name !== null) return 'get'
  return query.get('watch') === 'true' ? 'watch' : 'list'
}

/** `punctual.dev/v1alpha1`, or `v1`. */
export function apiVersionOf(collection: Collection): string {
  return collection.split('/').slice(2, -1).join('/')
}

/** Labels by equality, and the name as a field: all that our adapters select by. */
export function selectorOf(query: URLSearchParams): (object: FakeObject) => boolean {
  const labels = pairsOf(query.get('labelSelector'))
  const fields = pairsOf(query.get('fieldSelector'))
  return ({ metadata }) =>
    labels.every(([name, value]) => (metadata.labels as Json | undefined)?.[name] === value) &&
    fields.every(([name, value]) => name === 'metadata.name' && metadata.name === value)
}

function pairsOf(selector: string | null): Array<readonly [string, string]> {
  return (selector ?? '')
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', value = ''] = part.split('=')
      return [name, value] as const
    })
}
