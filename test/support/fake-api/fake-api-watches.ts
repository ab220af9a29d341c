import type { ServerResponse } from 'node:http'
import { reset, type Effect } from './fake-api-faults.ts'
import type { Change, Collection, FakeObjects } from './fake-api-objects.ts'
import { apiVersionOf, selectorOf, type Route } from './fake-api-routes.ts'

/** One open watch, which a test can end in every way. */
export interface FakeWatch {
  readonly collection: Collection
  readonly namespace: string | null
  /** The requested version. */
  readonly from: string
  /** Sends these bytes as they are. */
  write(text: string): void
  bookmark(): void
  error(code: number, reason: string): void
  /** Ends the body as the server does when its `timeoutSeconds` are over. */
  end(): void
  reset(): void
  /** Sends nothing from now on and keeps the connection open. */
  silence(): void
}

export interface WatchRequest {
  readonly route: Route
  readonly query: URLSearchParams
  readonly effect: Effect | null
}

export interface FakeWatches {
  readonly open: readonly FakeWatch[]
  begin(request: WatchRequest, response: ServerResponse): void
}

export function createFakeWatches(objects: FakeObjects): FakeWatches {
  const open: DeliverableWatch[] = []
  objects.onChange((change) => {
    for (const watch of open.slice()) watch.deliver(change)
  })

  /** What a watch is sent at its beginning: all objects if it names no version. */
  function missed({ collection, namespace }: Route, from: number): readonly Change[] {
    if (from > 0) return from < objects.floor ? [] : objects.since(from, collection, namespace)
    const { version } = objects
    return objects
      .list(collection, namespace)
      .map((object) => ({ version, type: 'ADDED', collection, object }) as const)
  }

  return {
    open,
    begin: (request, response) => {
      const watch = createWatch(request, response, objects)
      open.push(watch)
      response.on('close', () => open.splice(open.indexOf(watch), 1))
      response.writeHead(200, { 'content-type': 'application/json' })
      response.flushHeaders()
      for (const change of missed(request.route, Number(watch.from))) watch.deliver(change)
      if (watch.from !== '0' && Number(watch.from) < objects.floor) watch.error(410, 'Expired')
    },
  }
}

type DeliverableWatch = FakeWatch & { deliver(change: Change): void }

function createWatch(
  { route: { collection, namespace }, query, effect }: WatchRequest,
  response: ServerResponse,
  objects: FakeObjects,
): DeliverableWatch {
  const isSelected = selectorOf(query)
  let isSilent = effect?.do === 'silence'
  let sent = 0

  function write(text: string): void {
    if (isSilent || response.destroyed || response.writableEnded) return
    const bytes = Buffer.from(text)
    if (effect?.do === 'cut' && bytes.length > effect.bytes) {
      response.write(bytes.subarray(0, effect.bytes), () => reset(response.socket))
      isSilent = true
      return
    }
    const size = effect?.do === 'split' ? effect.bytes : bytes.length
    for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size))
  }

  function send(type: string, object: unknown): void {
    write(`${JSON.stringify({ type, object })}\n`)
  }

  const watch = {
    collection,
    namespace,
    from: query.get('resourceVersion') ?? '0',
    write,
    bookmark: () => {
      const metadata = { resourceVersion: String(objects.version), creationTimestamp: null }
      send('BOOKMARK', { kind: objects.kindOf(collection), apiVersion: apiVersionOf(collection), metadata })
    },
    error: (code: number, reason: string) => {
      const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason }
      send('ERROR', { ...status, message: `${reason} on command` })
      response.end()
    },
    end: () => void response.end(),
    reset: () => reset(response.socket),
    silence: () => {
      isSilent = true
    },
    deliver: (change: Change) => {
      const isHere = namespace === null || change.object.metadata.namespace === namespace
      if (change.collection !== collection || !isHere || !isSelected(change.object)) return
      if (effect !== null && 'after' in effect && sent >= effect.after) {
        if (effect.do === 'error-event') watch.error(effect.code, effect.reason)
        else response.end()
        isSilent = true
        return
      }
      sent += 1
      send(change.type, change.object)
      if (effect?.do === 'duplicate') send(change.type, change.object)
    },
  }
  return watch
}
