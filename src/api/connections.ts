import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock, Logger } from '../ports/runtime.ts'

/** From this part of the connections on they are short of: whoever holds one idly makes room. */
const CROWDED_SHARE = 0.8
const LOOK_MS = 1_000
/** Looks at a connection without a request before it is ended, while they are short of. */
const IDLE_LOOKS_MAX = 5
/** How often a refusal is told. */
const REFUSED_LINE_MS = 60_000

/** What is known of one connection. */
interface Connection {
  /** Requests that are not answered. */
  open: number
  idleLooks: number
  /** The last request that came, and its answer. */
  request: IncomingMessage | null
  response: ServerResponse | null
}

/**
 * The connections of a server. While there are few nothing is done. When they are crowded every answer ends its
 * connection and those that stay idle are ended, so that one client that holds many does not keep the others out. Above
 * the most there may be, a new one is ended at once.
 */
export interface Connections {
  /** Answers that are owed. */
  readonly open: ReadonlySet<ServerResponse>
  /** Notes a request; its answer says whether the connection goes on. */
  begin(request: IncomingMessage, response: ServerResponse): void
  /** Whether bytes of ours may be written past node:http: no answer has begun, and none would be cut in two. */
  isQuiet(socket: Socket): boolean
}

export function createConnections(
  server: Server,
  options: { readonly max: number; readonly clock: Clock; readonly logger: Logger },
): Connections {
  const { max, clock, logger } = options
  const connections = new Map<Socket, Connection>()
  const open = new Set<ServerResponse>()
  const isCrowded = (): boolean => connections.size > max * CROWDED_SHARE
  let isLooking = false

  const look = (): void => {
    for (const [socket, connection] of connections) {
      connection.idleLooks = connection.open === 0 ? connection.idleLooks + 1 : 0
      if (connection.idleLooks > IDLE_LOOKS_MAX) socket.destroy()
    }
    isLooking = isCrowded()
    if (isLooking) clock.after(LOOK_MS, look)
  }

  server.maxConnections = max
  server.on('connection', (socket: Socket) => {
    connections.set(socket, { open: 0, idleLooks: 0, request: null, response: null })
    socket.once('close', () => connections.delete(socket))
    if (isLooking || !isCrowded()) return
    isLooking = true
    for (const connection of connections.values()) connection.idleLooks = 0
    clock.after(LOOK_MS, look)
  })
  server.on('drop', countRefused({ max, clock, logger }))

  return {
    open,
    begin: (request, response) => {
      open.add(response)
      const connection = connections.get(request.socket)
      if (connection !== undefined) {
        connection.open += 1
        connection.request = request
        connection.response = response
      }
      response.once('close', () => {
        open.delete(response)
        if (connection !== undefined) connection.open -= 1
      })
      if (isCrowded()) response.setHeader('Connection', 'close')
    },
    isQuiet: (socket) => {
      const { request = null, response = null } = connections.get(socket) ?? {}
      if (request === null || response === null || !response.headersSent) return true
      return response.writableFinished && request.complete
    },
  }
}

/** Says it at once, and then at most once a minute. */
function countRefused(options: {
  readonly max: number
  readonly clock: Clock
  readonly logger: Logger
}): () => void {
  const { max, clock, logger } = options
  let refused = 0
  let quietUntilMs = -Infinity
  return () => {
    refused += 1
    const nowMs = clock.monotonicMs()
    if (nowMs < quietUntilMs) return
    quietUntilMs = nowMs + REFUSED_LINE_MS
    logger.warn('Connections are refused: there are as many as there may be', { refused, max })
    refused = 0
  }
}
