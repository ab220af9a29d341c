/**
 * The storage of a Kubernetes API server, as far as our tests need it: versions, optimistic locks, finalizers, generations,
 * the status subresource, merge patches and a subset of server-side apply in which lists are atomic.
 */
import { isDeepStrictEqual } from 'node:util'
import { lostFields, mergePatch, type Json } from './fake-api-patches.ts'

/** An object as JSON. Stored objects are replaced, never mutated. */
export interface FakeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: FakeMeta
  readonly [field: string]: unknown
}

export interface FakeMeta {
  readonly name: string
  readonly namespace?: string
  readonly uid: string
  readonly resourceVersion: string
  readonly [field: string]: unknown
}

/** `/apis/punctual.dev/v1alpha1/httpqueues`, without namespace and name. */
export type Collection = string

export interface Change {
  readonly version: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly collection: Collection
  readonly object: FakeObject
}

/** A refused request; becomes a `Status`. */
export class Refusal extends Error {
  readonly code: number
  readonly reason: string
  readonly details: Json
  constructor(code: number, reason: string, message: string, details: Json = {}) {
    super(message)
    this.code = code
    this.reason = reason
    this.details = details
  }
}

export interface Place {
  readonly collection: Collection
  readonly namespace: string | null
  readonly name: string
}

export interface WriteOptions {
  readonly subresource: string | null
  readonly fieldManager: string
}

export interface FakeObjects {
  readonly version: number
  /** Older versions are compacted. */
  readonly floor: number
  get(place: Place): FakeObject | undefined
  list(collection: Collection, namespace: string | null): FakeObject[]
  since(version: number, collection: Collection, namespace: string | null): Change[]
  create(place: Place, given: Json, options: WriteOptions): FakeObject
  update(place: Place, given: Json, options: WriteOptions): FakeObject
  patch(place: Place, patch: Json, options: WriteOptions): FakeObject
  /** With force: takes fields over from other managers. */
  apply(place: Place, given: Json, options: WriteOptions): FakeObject
  remove(place: Place, preconditions: Json): FakeObject
  /** Creates it, or merges these fields into it, status included. */
  put(place: Place, given: Json): FakeObject
  /** Of its objects; unknown for an empty collection. */
  kindOf(collection: Collection): string
  compact(): void
  onChange(listener: (change: Change) => void): void
}

const FIRST_VERSION = 100
const BY_HAND: WriteOptions = { subresource: null, fieldManager: 'test' }

export function createFakeObjects(): FakeObjects {
  const objects = new Map<string, FakeObject>()
  /** What each manager applied last, by object and manager. */
  const applied = new Map<string, Json>()
  const history: Change[] = []
  const listeners: Array<(change: Change) => void> = []
  let version = FIRST_VERSION
  let floor = FIRST_VERSION
  let uids = 0

  function note(type: Change['type'], { collection, ...place }: Place, object: FakeObject): FakeObject {
    version += 1
    const metadata = { ...object.metadata, resourceVersion: String(version) }
    const stored = deepFreeze({ ...object, metadata })
    const key = keyOf({ collection, ...place })
    if (type === 'DELETED') objects.delete(key)
    else objects.set(key, stored)
    const change = { version, type, collection, object: stored }
    history.push(change)
    for (const listener of listeners) listener(change)
    return stored
  }

  function existing(place: Place): FakeObject {
    const found = objects.get(keyOf(place))
    if (found === undefined) throw notFound(place)
    return found
  }

  function replace(place: Place, next: Json, options: WriteOptions): FakeObject {
    const before = existing(place)
    const meta = (next.metadata ?? {}) as Json
    checkIdentity(place, before, meta, options)
    const after = merged(before, next, options)
    if (isDeepStrictEqual(withoutVersion(after), withoutVersion(before))) return before
    if (before.metadata.deletionTimestamp !== undefined && finalizersOf(after).length === 0) {
      return note('DELETED', place, after)
    }
    return note('MODIFIED', place, after)
  }

  function create(place: Place, given: Json, options: WriteOptions): FakeObject {
    if (objects.has(keyOf(place))) {
      throw new Refusal(409, 'AlreadyExists', `${placeText(place)} already exists`)
    }
    uids += 1
    const { status: _status, ...rest } = given
    const metadata: FakeMeta = {
      ...((given.metadata ?? {}) as Json),
      name: place.name,
      ...(place.namespace === null ? {} : { namespace: place.namespace }),
      uid: `uid-${uids}`,
      resourceVersion: '0',
      generation: 1,
      creationTimestamp: '2026-11-21T00:00:00Z',
      managedFields: [managedBy(options.fieldManager)],
    }
    return note('ADDED', place, { ...rest, metadata } as unknown as FakeObject)
  }

  function list(collection: Collection, namespace: string | null): FakeObject[] {
    return [...objects.entries()]
      .filter(([key]) => key.startsWith(`${collection} ${namespace === null ? '' : `${namespace} `}`))
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([, object]) => object)
  }

  return {
    get version() {
      return version
    },
    get floor() {
      return floor
    },
    get: (place) => objects.get(keyOf(place)),
    list,
    since: (from, collection, namespace) =>
      history.filter((change) => change.version > from && isWithin(change, collection, namespace)),
    create,
    update: replace,
    patch: (place, patch, options) => replace(place, mergePatch(existing(place), patch) as Json, options),
    apply: (place, given, options) => {
      const key = `${keyOf(place)} ${options.fieldManager} ${options.subresource}`
      const before = objects.get(keyOf(place))
      if (before === undefined) {
        if (options.subresource !== null) throw notFound(place)
        applied.set(key, given)
        return create(place, given, options)
      }
      const lost = lostFields(applied.get(key) ?? {}, given)
      const { metadata, ...rest } = given as { metadata: Json }
      const next = mergePatch(mergePatch(before, lost), { ...rest, metadata }) as Json
      const after = replace(place, next, options)
      applied.set(key, given)
      return after
    },
    remove: (place, preconditions) => {
      const before = existing(place)
      for (const field of ['uid', 'resourceVersion'] as const) {
        const wanted = preconditions[field]
        if (wanted !== undefined && wanted !== before.metadata[field]) {
          const message = `Precondition failed: ${field} in precondition: ${JSON.stringify(wanted)}, in object meta: ${before.metadata[field]}`
          throw new Refusal(409, 'Conflict', message)
        }
      }
      if (finalizersOf(before).length === 0) return note('DELETED', place, before)
      if (before.metadata.deletionTimestamp !== undefined) return before
      const metadata = { ...before.metadata, deletionTimestamp: '2026-11-21T00:00:01Z' }
      return note('MODIFIED', place, { ...before, metadata })
    },
    put: (place, given) => {
      const { metadata = {}, status, ...rest } = given
      const before = objects.get(keyOf(place))
      const next = { ...rest, metadata: { ...before?.metadata, ...(metadata as Json) } }
      const after = before === undefined ? create(place, given, BY_HAND) : replace(place, next, BY_HAND)
      return status === undefined
        ? after
        : replace(place, { ...after, status }, { ...BY_HAND, subresource: 'status' })
    },
    kindOf: (collection) => list(collection, null)[0]?.kind ?? 'Unknown',
    compact: () => {
      floor = version
    },
    onChange: (listener) => listeners.push(listener),
  }
}

/** What a write may change: all but the status, or nothing but the status. */
function merged(before: FakeObject, next: Json, { subresource, fieldManager }: WriteOptions): FakeObject {
  const { status: statusBefore, ...restBefore } = before
  const { status, ...rest } = next
  if (subresource === 'status') return { ...restBefore, ...(status === undefined ? {} : { status }) }
  const meta = rest.metadata as Json
  const generation = Number(before.metadata.generation) + (isDeepStrictEqual(rest.spec, before.spec) ? 0 : 1)
  const kept = {
    name: before.metadata.name,
    uid: before.metadata.uid,
    creationTimestamp: before.metadata.creationTimestamp,
    resourceVersion: before.metadata.resourceVersion,
    ...(before.metadata.deletionTimestamp === undefined
      ? {}
      : { deletionTimestamp: before.metadata.deletionTimestamp }),
  }
  const metadata = { ...meta, ...kept, generation, managedFields: [managedBy(fieldManager)] }
  const { apiVersion, kind } = before
  return {
    ...rest,
    apiVersion,
    kind,
    metadata,
    ...(statusBefore === undefined ? {} : { status: statusBefore }),
  }
}

/** A status is taken for any uid, as by the real one. */
function checkIdentity(
  place: Place,
  { metadata }: FakeObject,
  given: Json,
  { subresource }: WriteOptions,
): void {
  if (subresource !== 'status' && given.uid !== undefined && given.uid !== metadata.uid) {
    const message = `${placeText(place)} is invalid: metadata.uid: Invalid value: ${JSON.stringify(given.uid)}: field is immutable`
    throw new Refusal(422, 'Invalid', message, { causes: [{ field: 'metadata.uid' }] })
  }
  if (given.resourceVersion !== undefined && given.resourceVersion !== metadata.resourceVersion) {
    const message = `Operation cannot be fulfilled on ${placeText(place)}: the object has been modified; please apply your changes to the latest version and try again`
    throw new Refusal(409, 'Conflict', message)
  }
}

function managedBy(manager: string): Json {
  return {
    manager,
    operation: 'Apply',
    apiVersion: 'v1',
    time: '2026-11-21T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { '.': {}, 'f:name': {} } },
  }
}

function keyOf({ collection, namespace, name }: Place): string {
  return namespace === null ? `${collection} ${name}` : `${collection} ${namespace} ${name}`
}

function isWithin({ collection, object }: Change, wanted: Collection, namespace: string | null): boolean {
  return collection === wanted && (namespace === null || object.metadata.namespace === namespace)
}

export function notFound(place: Place): Refusal {
  return new Refusal(404, 'NotFound', `${placeText(place)} not found`)
}

function placeText({ collection, name }: Place): string {
  return `${collection.split('/').at(-1)} "${name}"`
}

function finalizersOf(object: FakeObject): readonly unknown[] {
  return Array.isArray(object.metadata.finalizers) ? object.metadata.finalizers : []
}

/** A write that changes nothing but these changes nothing. */
function withoutVersion(object: FakeObject): Json {
  const { resourceVersion: _version, managedFields: _managed, ...metadata } = object.metadata
  return { ...object, metadata }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const one of Object.values(value)) deepFreeze(one)
  return Object.freeze(value)
}
