import type { Socket } from 'node:net'
import type { Clock } from '../../ports/runtime.ts'
import type { ConnectionLimiter } from './connection-limiter.ts'
import { whenLate } from './late-requests.ts'

/** How long the client may take to read the answer and close. */
const LINGER_MS = 2_000

interface RawAnswer {
  readonly status: string
  readonly error: string
  /** Whole lines. */
  readonly headers?: string
}

const CLIENT_ERRORS: Readonly<Record<string, RawAnswer>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    error: 'The request headers are too large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', error: 'The request took too long' },
}
const BAD_REQUEST: RawAnswer = { status: '400 Bad Request', error: 'The request is not valid HTTP' }
const NO_CONNECT: RawAnswer = {
  status: '405 Method Not Allowed',
  error: 'Method not allowed',
  headers: 'Allow: GET, HEAD, POST, PATCH, DELETE\r\n',
}

/** Answers bytes that are not an HTTP request or arrive too slowly, then closes the connection. */
export function clientErrorHandler(
  connections: ConnectionLimiter,
  clock: Clock,
): (fault: NodeJS.ErrnoException, socket: Socket) => void {
  const refuse = (fault: NodeJS.ErrnoException, socket: Socket): void => {
    const isAnswerable =
      fault.code !== 'ECONNRESET' && socket.writable && connections.isBetweenAnswers(socket)
    if (isAnswerable) writeRaw(socket, CLIENT_ERRORS[fault.code ?? ''] ?? BAD_REQUEST, clock)
    else socket.destroy()
  }
  return (fault, socket) => {
    if (fault.code !== 'ERR_HTTP_REQUEST_TIMEOUT') return refuse(fault, socket)
    const hasCome = connections.comingBy(socket)
    whenLate(socket, { clock, hasCome, onLate: () => refuse(fault, socket) })
  }
}

/** Answers CONNECT, for which node:http hands the socket over. */
export function rejectConnect(socket: Socket, clock: Clock): void {
  writeRaw(socket, NO_CONNECT, clock)
}

/** Discards what the client still sends for a moment: closing earlier would reset the connection and lose the answer. */
function writeRaw(socket: Socket, { status, error, headers = '' }: RawAnswer, clock: Clock): void {
  const body = JSON.stringify({ error })
  socket.on('error', () => undefined)
  const cancel = clock.after(LINGER_MS, () => socket.destroy())
  socket.once('close', cancel)
  socket.resume()
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${headers}Connection: close\r\n\r\n${body}`,
  )
}
