/** Bytes to an HTTP server as no library would send them. */
import { connect } from 'node:net'

export interface RawAnswer {
  /** null when the server hung up without an answer. */
  readonly status: number | null
  readonly head: string
  readonly body: string
  readonly tookMs: number
}

export interface RawRequest {
  readonly url: string
  readonly bytes: string | Buffer
  /** Sent after `bytes`, one by one, each when the one before was taken by the system. */
  readonly more?: Iterable<string | Buffer>
  /** Ends our side after the last byte. */
  readonly isEnded?: boolean
  readonly timeoutMs?: number
}

/** Sends and reads until one answer is complete or the connection ends. */
export function sendRaw(request: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(request.url)
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>()
  const startedAt = performance.now()
  const socket = connect(Number(port), hostname)
  let received = ''
  const finish = () => {
    clearTimeout(timer)
    socket.destroy()
    resolve({ ...parseAnswer(received), tookMs: performance.now() - startedAt })
  }
  const timeoutMs = request.timeoutMs ?? 20_000
  const timer = setTimeout(() => {
    socket.destroy()
    reject(new Error(`no answer within ${timeoutMs} ms to ${request.bytes.toString().slice(0, 80)}`))
  }, timeoutMs)
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
    if (isComplete(received)) finish()
  })
  socket.on('error', () => undefined)
  socket.on('close', finish)
  send(socket, request)
  return promise
}

function send(socket: ReturnType<typeof connect>, request: RawRequest): void {
  const chunks = (request.more ?? [])[Symbol.iterator]()
  const next = () => {
    if (socket.destroyed) return
    const { done, value } = chunks.next()
    if (done !== true) socket.write(value, next)
    else if (request.isEnded === true) socket.end()
  }
  socket.write(request.bytes, next)
}

function isComplete(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return false
  if (text.startsWith('HTTP/1.1 100 ')) return isComplete(text.slice(end + 4))
  const length = /^content-length: *(\d+)/im.exec(text.slice(0, end))?.[1]
  return length !== undefined && text.length - end - 4 >= Number(length)
}

function parseAnswer(text: string): Omit<RawAnswer, 'tookMs'> {
  const end = text.indexOf('\r\n\r\n')
  if (text.startsWith('HTTP/1.1 100 ') && end !== -1) return parseAnswer(text.slice(end + 4))
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]
  return {
    status: status === undefined ? null : Number(status),
    head: end === -1 ? text : text.slice(0, end),
    body: end === -1 ? '' : text.slice(end + 4),
  }
}
