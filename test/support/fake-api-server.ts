/**
 * A Kubernetes API server as far as our adapters use one, over TLS and HTTP/1.1, that misbehaves on command. Any kind is
 * known to it; `faults` say which requests go wrong and how, `watches` are the open ones.
 */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { ClusterConfig } from '../../src/kubernetes/cluster-config.ts'
import { selfSignedCertificate, type Certificate } from './certificates.ts'
import { createFaultList, reset, type Effect, type FaultList, type Verb } from './fake-api-faults.ts'
import { Refusal, createFakeObjects, notFound } from './fake-api-objects.ts'
import type { Collection, FakeObject, Json, Place, WriteOptions } from './fake-api-objects.ts'
import { createFakeWatches, type FakeWatch } from './fake-api-watches.ts'

export interface FakeApiServer {
  readonly url: string
  /** The authority to trust it by, PEM. */
  readonly authority: string
  /** How our transport reaches it, with the token and authority of the moment. */
  readonly config: ClusterConfig
  readonly faults: FaultList
  readonly watches: readonly FakeWatch[]
  /** Requests answered or struck so far, oldest first. */
  readonly requests: readonly SeenRequest[]
  /** Paths of requests that are none of the Kubernetes API. */
  readonly strays: readonly string[]
  /** TLS connections accepted so far. */
  readonly connections: number
  /** Tokens that are accepted. */
  readonly tokens: Set<string>
  /** The newest version of anything. */
  readonly version: number
  /** Makes or replaces an object as it stands, status included. */
  put(path: string, object: Json): FakeObject
  /** @param path such as `/apis/punctual.dev/v1alpha1/namespaces/a/httpqueues/one` */
  get(path: string): FakeObject | undefined
  /** Deletes it as a client would: finalizers hold it. */
  remove(path: string): void
  /** Objects of a collection, or of its part in one namespace. */
  list(path: string): readonly FakeObject[]
  /** Forgets all versions before this one, so that watches and pages from them are expired. */
  compact(): void
  /** Shows another certificate to new connections. */
  changeCertificate(certificate: Certificate): void
  /** Resets every connection. */
  cutAll(): void
  close(): Promise<void>
}

export interface SeenRequest {
  readonly verb: Verb
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly contentType: string | undefined
  readonly authorization: string | undefined
  readonly body: Json | null
}

interface Route extends Omit<Place, 'name'> {
  readonly name: string | null
  readonly subresource: string | null
}

interface Call {
  readonly verb: Verb
  readonly route: Route
  readonly query: URLSearchParams
  readonly body: Json
  readonly contentType: string
}

const PATH =
  /^(?<root>\/api\/[^/]+|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+)(?:\/(?<subresource>[^/]+))?)?$/
/** Like the real one it would rather speak HTTP/2, which it cannot: a client that offers that gets nowhere. */
const TLS = { ALPNProtocols: ['h2', 'http/1.1'] }
const SEED: WriteOptions = { subresource: null, fieldManager: 'test', force: false }

let shared: Certificate | null = null

export async function startFakeApiServer(): Promise<FakeApiServer> {
  // One for all servers of a test file: making it takes longer than most tests.
  shared ??= selfSignedCertificate()
  let certificate = shared
  const objects = createFakeObjects()
  const watches = createFakeWatches(objects)
  const faults = createFaultList()
  const tokens = new Set(['token-1'])
  const requests: SeenRequest[] = []
  const strays: string[] = []
  const pages = new Map<string, { readonly version: number; readonly rest: readonly FakeObject[] }>()
  const sockets = new Set<Socket>()
  let connections = 0

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://fake')
    const body = await bodyOf(request)
    if (!PATH.test(pathname)) {
      strays.push(request.url ?? '')
      return answer(response, { code: 404, body: '404 page not found' }, null)
    }
    const route = routeOf(pathname)
    const verb = verbOf(request.method ?? 'GET', route, searchParams)
    requests.push({
      verb,
      path: pathname,
      query: Object.fromEntries(searchParams),
      contentType: request.headers['content-type'],
      authorization: request.headers.authorization,
      body,
    })
    const effect = faults.take(verb, pathname)
    if (effect?.do === 'hang') return
    if (effect?.do === 'reset') return reset(request.socket)
    if (effect?.do === 'hold') await effect.until
    if (effect?.do === 'flood') return flood(response)
    if (effect?.do === 'answer') return answerFault(response, effect)
    const token = request.headers.authorization?.replace(/^Bearer /, '')
    if (token === undefined || !tokens.has(token)) {
      return answer(response, refusalBody(new Refusal(401, 'Unauthorized', 'Unauthorized')), null)
    }
    const contentType = request.headers['content-type'] ?? ''
    const call = { verb, route, query: searchParams, body: body ?? {}, contentType }
    try {
      if (verb === 'watch') {
        const { collection, namespace } = route
        const matches = selectorOf(searchParams)
        watches.begin(
          { collection, namespace, kind: kindOf(route), query: searchParams, effect, matches },
          response,
        )
        return
      }
      const result = { code: verb === 'create' ? 201 : 200, body: done(call) }
      if (effect?.do === 'lose-answer') return reset(request.socket)
      answer(response, result, effect)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      answer(response, refusalBody(error), effect)
    }
  }

  function done({ verb, route, query, body, contentType }: Call): unknown {
    const { name, subresource } = route
    if (verb === 'list') return listed(route, query)
    const place = { ...route, name: name ?? nameOf(body) }
    const options = {
      subresource,
      fieldManager: query.get('fieldManager') ?? 'unknown',
      force: query.get('force') === 'true',
    }
    if (subresource === 'scale') return scaled(place, verb, body)
    switch (verb) {
      case 'get':
        return found(place)
      case 'create':
        return objects.create(place, body, options)
      case 'update':
        return objects.update(place, body, options)
      case 'delete':
        return objects.remove(place, (body.preconditions ?? {}) as Json)
      case 'patch':
        if (contentType === 'application/apply-patch+yaml') return objects.apply(place, body, options)
        if (contentType === 'application/merge-patch+json') return objects.patch(place, body, options)
        throw new Refusal(415, 'UnsupportedMediaType', `the fake knows no ${contentType}`)
      case 'watch':
        throw new Error('a watch has no single answer')
    }
  }

  function found(place: Place): FakeObject {
    const object = objects.get(place)
    if (object === undefined) throw notFound(place)
    return object
  }

  function listed(route: Route, query: URLSearchParams): Json {
    const token = query.get('continue')
    const page = token === null ? firstPage(route, query) : pages.get(token)
    if (page === undefined || page.version < objects.floor) {
      throw new Refusal(410, 'Expired', 'The provided continue parameter is too old')
    }
    const limit = Number(query.get('limit') ?? 0) || Number.POSITIVE_INFINITY
    const rest = page.rest.slice(limit)
    const next = `page-${pages.size + 1}`
    if (rest.length > 0) pages.set(next, { version: page.version, rest })
    const metadata = { resourceVersion: String(page.version), ...(rest.length > 0 ? { continue: next } : {}) }
    const apiVersion = route.collection.split('/').slice(2, -1).join('/')
    const items = page.rest.slice(0, limit).map(isBuiltIn(route.collection) ? withoutKind : (item) => item)
    return { kind: `${kindOf(route)}List`, apiVersion, metadata, items }
  }

  function firstPage({ collection, namespace }: Route, query: URLSearchParams) {
    return { version: objects.version, rest: objects.list(collection, namespace).filter(selectorOf(query)) }
  }

  function kindOf({ collection }: Route): string {
    return objects.list(collection, null)[0]?.kind ?? 'Unknown'
  }

  function scaled(place: Place, verb: Verb, body: Json): Json {
    const replicas = (body.spec as Json | undefined)?.replicas
    const object =
      verb === 'get'
        ? found(place)
        : objects.patch(place, { spec: { replicas } }, { ...SEED, fieldManager: 'scale' })
    const { name, namespace, uid, resourceVersion } = object.metadata
    const status = (object.status ?? {}) as Json
    return {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name, namespace, uid, resourceVersion },
      spec: { replicas: (object.spec as Json).replicas ?? 0 },
      status: { replicas: status.replicas ?? 0 },
    }
  }

  const server = createServer({ ...certificate, ...TLS, keepAliveTimeout: 120_000 }, (request, response) => {
    response.on('error', () => undefined)
    serve(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)))
    })
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined)
  })
  server.on('secureConnection', (socket: Socket) => {
    connections += 1
    socket.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`

  function cutAll(): void {
    for (const socket of sockets) socket.resetAndDestroy()
  }

  return {
    url,
    get authority() {
      return certificate.cert
    },
    config: {
      server: url,
      access: async () => ({
        headers: { authorization: `Bearer ${[...tokens].at(-1)}` },
        tls: { ca: certificate.cert },
      }),
      renew: () => undefined,
    },
    faults,
    watches: watches.open,
    requests,
    strays,
    get connections() {
      return connections
    },
    tokens,
    get version() {
      return objects.version
    },
    put: (path, object) => {
      const place = placeOf(path)
      const before = objects.get(place)
      const made = before ?? objects.create(place, object, SEED)
      const { status, ...rest } = object
      const kept =
        before === undefined
          ? {}
          : {
              metadata: {
                ...before.metadata,
                ...(object.metadata as Json),
                resourceVersion: before.metadata.resourceVersion,
              },
            }
      const updated = before === undefined ? made : objects.update(place, { ...rest, ...kept }, SEED)
      if (status === undefined) return updated
      return objects.update(place, { ...updated, status }, { ...SEED, subresource: 'status' })
    },
    get: (path) => objects.get(placeOf(path)),
    remove: (path) => void objects.remove(placeOf(path), {}),
    list: (path) => {
      const { collection, namespace } = routeOf(path)
      return objects.list(collection, namespace)
    },
    compact: () => objects.compact(),
    changeCertificate: (next) => {
      certificate = next
      server.setSecureContext({ ...next, ...TLS })
    },
    cutAll,
    close: async () => {
      server.close()
      cutAll()
      await once(server, 'close')
    },
  }
}

/** As of the real one: items of a list go without their kind when it is a built-in one. */
function isBuiltIn(collection: Collection): boolean {
  return collection.startsWith('/api/') || !collection.split('/')[2]?.includes('punctual.dev')
}

function withoutKind({ apiVersion: _apiVersion, kind: _kind, ...item }: FakeObject): Json {
  return item
}

function routeOf(path: string): Route {
  const groups = PATH.exec(path)?.groups
  if (groups === undefined) throw new Error(`the fake API server knows no ${path}`)
  const { root, namespace, plural, name, subresource } = groups
  return {
    collection: `${root}/${plural}`,
    namespace: namespace ?? null,
    name: name ?? null,
    subresource: subresource ?? null,
  }
}

function placeOf(path: string): Place {
  const { collection, namespace, name } = routeOf(path)
  if (name === null) throw new Error(`${path} names no object`)
  return { collection, namespace, name }
}

function verbOf(method: string, { name }: Route, query: URLSearchParams): Verb {
  if (method === 'POST') return 'create'
  if (method === 'PUT') return 'update'
  if (method === 'PATCH') return 'patch'
  if (method === 'DELETE') return 'delete'
  if (name !== null) return 'get'
  return query.get('watch') === 'true' ? 'watch' : 'list'
}

function nameOf({ metadata }: Json): string {
  const { name } = (metadata ?? {}) as { readonly name?: string }
  if (name === undefined) throw new Refusal(422, 'Invalid', 'name is required')
  return name
}

/** Labels by equality, and the name as a field: all that our adapters select by. */
function selectorOf(query: URLSearchParams): (object: FakeObject) => boolean {
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

async function bodyOf(request: IncomingMessage): Promise<Json | null> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  return text === '' ? null : (JSON.parse(text) as Json)
}

interface FakeAnswer {
  readonly code: number
  readonly body: unknown
}

function refusalBody({ code, reason, message, details }: Refusal): FakeAnswer {
  return {
    code,
    body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details },
  }
}

function answerFault(response: ServerResponse, effect: Extract<Effect, { do: 'answer' }>): void {
  const { code, reason = 'OnCommand', message = `${code} on command`, retryAfterSeconds } = effect
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', String(retryAfterSeconds))
  answer(response, refusalBody(new Refusal(code, reason, message)), null)
}

function answer(response: ServerResponse, { code, body }: FakeAnswer, effect: Effect | null): void {
  const bytes = Buffer.from(effect?.do === 'garble' ? '<html>not JSON</html>' : JSON.stringify(body))
  response.writeHead(code, { 'content-type': 'application/json' })
  if (effect?.do === 'cut') {
    response.write(bytes.subarray(0, effect.bytes), () => reset(response.socket))
    return
  }
  if (effect?.do === 'stall') return void response.write(bytes.subarray(0, effect.bytes))
  const size = effect?.do === 'split' ? effect.bytes : bytes.length
  for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size))
  response.end()
}

function flood(response: ServerResponse): void {
  const chunk = Buffer.alloc(1024 * 1024, ' ')
  const pour = (): void => {
    while (!response.destroyed && response.write(chunk));
  }
  response.writeHead(200).on('drain', pour)
  pour()
}
