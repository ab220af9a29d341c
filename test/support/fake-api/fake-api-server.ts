/**
 * A Kubernetes API server as far as our adapters use one, over TLS and HTTP/1.1, that misbehaves on command. It serves any
 * kind; `faults` decides which requests go wrong and how, `watches` are the open ones.
 */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { ClusterConfig } from '../../../src/kubernetes/client/cluster-config.ts'
import { selfSignedCertificate, type Certificate } from '../targets/certificates.ts'
import { createFaultList, reset, type Effect, type FaultList, type Verb } from './fake-api-faults.ts'
import { createFakeAnswers } from './fake-api-answers.ts'
import { Refusal, createFakeObjects, type FakeObject } from './fake-api-objects.ts'
import type { Json } from './fake-api-patches.ts'
import { placeOf, routeOf, verbOf } from './fake-api-routes.ts'
import { answerReview, isReview, type FakeReviews } from './fake-api-reviews.ts'
import { createFakeWatches, type FakeWatch } from './fake-api-watches.ts'

export interface FakeApiServer {
  readonly url: string
  /** The CA certificate, PEM. */
  readonly authority: string
  /** For our transport, with the current token and CA. */
  readonly config: ClusterConfig
  readonly faults: FaultList
  readonly watches: readonly FakeWatch[]
  /** Requests so far, oldest first. */
  readonly requests: readonly SeenRequest[]
  /** What is served outside the Kubernetes API, by path, to everybody. */
  readonly documents: Map<string, Json>
  /** Paths of other requests outside it. */
  readonly strays: readonly string[]
  /** TLS connections accepted so far. */
  readonly connections: number
  /** Tokens that are accepted. */
  readonly tokens: Set<string>
  /** Who else has a token, and may do what. */
  readonly reviews: FakeReviews
  /** The newest version of anything. */
  readonly version: number
  /** Creates an object, or merges these fields into it, status included. */
  put(path: string, object: Json): FakeObject
  /** @param path such as `/apis/punctual.dev/v1alpha1/namespaces/a/httpqueues/one` */
  get(path: string): FakeObject | undefined
  /** Deletes it as a client would: finalizers delay that. */
  remove(path: string): void
  /** Objects of a collection, or of its part in one namespace. */
  list(path: string): readonly FakeObject[]
  /** Compacts all older versions, so that watches and pages from them have expired. */
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

/** Prefers HTTP/2 like the real one but cannot speak it: a client that offers HTTP/2 fails. */
const TLS = { ALPNProtocols: ['h2', 'http/1.1'] }

let shared: Certificate | null = null

export async function startFakeApiServer(): Promise<FakeApiServer> {
  // Shared by all servers of a test file: making it takes longer than most tests.
  shared ??= selfSignedCertificate()
  let certificate = shared
  const objects = createFakeObjects()
  const answerTo = createFakeAnswers(objects)
  const watches = createFakeWatches(objects)
  const faults = createFaultList()
  const tokens = new Set(['token-1'])
  const reviews: FakeReviews = { users: new Map(), grants: new Set() }
  const requests: SeenRequest[] = []
  const documents = new Map<string, Json>()
  const strays: string[] = []
  const sockets = new Set<Socket>()
  let connections = 0

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://fake')
    const body = await bodyOf(request)
    const route = routeOf(pathname)
    const document = documents.get(pathname)
    if (route === null && document === undefined) {
      strays.push(request.url ?? '')
      return answer(response, { code: 404, body: '404 page not found' }, null)
    }
    const verb = route === null ? 'get' : verbOf(request.method ?? 'GET', route, searchParams)
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
    if (route === null) return answer(response, { code: 200, body: document ?? {} }, effect)
    const token = request.headers.authorization?.replace(/^Bearer /, '')
    if (token === undefined || !tokens.has(token)) {
      return answer(response, refusalBody(new Refusal(401, 'Unauthorized', 'Unauthorized')), null)
    }
    if (isReview(route)) {
      return answer(response, { code: 201, body: answerReview(reviews, route, body ?? {}) }, effect)
    }
    if (verb === 'watch') return watches.begin({ route, query: searchParams, effect }, response)
    try {
      const contentType = request.headers['content-type'] ?? ''
      const done = answerTo({ verb, route, query: searchParams, body: body ?? {}, contentType })
      if (effect?.do === 'lose-answer') return reset(request.socket)
      answer(response, { code: verb === 'create' ? 201 : 200, body: done }, effect)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      answer(response, refusalBody(error), effect)
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
    documents,
    strays,
    get connections() {
      return connections
    },
    tokens,
    reviews,
    get version() {
      return objects.version
    },
    put: (path, object) => objects.put(placeOf(path), object),
    get: (path) => objects.get(placeOf(path)),
    remove: (path) => void objects.remove(placeOf(path), {}),
    list: (path) => {
      const { collection, namespace } = placeOf(path)
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
