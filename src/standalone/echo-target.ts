import type { RequestListener, ServerResponse } from 'node:http'
import { REQUEST_BODY_BYTES_MAX } from '../domain/limits.ts'
import type { Clock } from '../ports/runtime.ts'

/** Path of the echo target. */
export const ECHO_PATH = '/echo'

const DELAY_MS_MAX = 60_000
const FAIL_MAX = 1_000_000
const STATUS_MIN = 200
const STATUS_MAX = 599
/** Ids whose calls are counted; the one that called longest ago is forgotten first. */
const COUNTED_IDS_MAX = 10_000
const FAILING_STATUS = 503

interface EchoOrder {
  readonly fail: number
  readonly status: number
  readonly delayMs: number
}

/**
 * A target for trying out jobs: `/echo?fail=2&status=503&delay_ms=0` fails the first two calls of each `webhook-id`
 * with that status, then answers 200 with the request it got. Only to this machine, because it shows headers.
 */
export function createEchoTarget(clock: Clock): RequestListener {
  const count = createCounts()
  return (request, response) => {
    if (!isLoopback(request.socket.remoteAddress)) {
      request.resume()
      answer(response, 404, { error: 'The echo target answers only to calls from its own machine.' })
      return
    }
    const order = readOrder(request.url ?? '')
    if (typeof order === 'string') {
      request.resume()
      answer(response, 400, { error: order })
      return
    }
    const calls = count(String(request.headers['webhook-id'] ?? ''))
    const chunks: Buffer[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= REQUEST_BODY_BYTES_MAX) chunks.push(chunk)
    })
    // A caller that went away needs no answer.
    request.on('error', () => undefined)
    request.on('end', () => {
      const cancel = clock.after(order.delayMs, () => {
        const status = calls <= order.fail ? order.status : 200
        answer(response, status, {
          method: request.method,
          path: request.url,
          headers: request.headers,
          body: Buffer.concat(chunks).toString('utf8'),
          body_truncated: bytes > REQUEST_BODY_BYTES_MAX,
          call: calls,
        })
      })
      response.once('close', cancel)
    })
  }
}

/** The echo target at its path, `next` elsewhere. */
export function withEcho(clock: Clock, next: RequestListener): RequestListener {
  const echo = createEchoTarget(clock)
  return (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0]
    if (path === ECHO_PATH) echo(request, response)
    else next(request, response)
  }
}

/** How often each id has called, this call included. */
function createCounts(): (id: string) => number {
  const calls = new Map<string, number>()
  return (id) => {
    const now = (calls.get(id) ?? 0) + 1
    calls.delete(id)
    calls.set(id, now)
    if (calls.size > COUNTED_IDS_MAX) {
      const [oldest] = calls.keys()
      if (oldest !== undefined) calls.delete(oldest)
    }
    return now
  }
}

/** Answers a sentence when the query is wrong. */
function readOrder(url: string): EchoOrder | string {
  const query = URL.parse(url, 'http://echo')?.searchParams ?? new URLSearchParams()
  const fail = numberOf(query.get('fail') ?? '0', 0, FAIL_MAX)
  const status = numberOf(query.get('status') ?? String(FAILING_STATUS), STATUS_MIN, STATUS_MAX)
  const delayMs = numberOf(query.get('delay_ms') ?? '0', 0, DELAY_MS_MAX)
  if (fail === null) return `fail must be a whole number from 0 to ${FAIL_MAX}.`
  if (status === null) return `status must be a whole number from ${STATUS_MIN} to ${STATUS_MAX}.`
  if (delayMs === null) return `delay_ms must be a whole number from 0 to ${DELAY_MS_MAX}.`
  return { fail, status, delayMs }
}

function numberOf(text: string, min: number, max: number): number | null {
  const value = /^[0-9]{1,7}$/.test(text) ? Number(text) : -1
  return value >= min && value <= max ? value : null
}

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(?:::ffff:)?127\.|^::1$/.test(address)
}

function answer(response: ServerResponse, status: number, body: object): void {
  const json = Buffer.from(`${JSON.stringify(body)}\n`)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': json.length,
    'x-content-type-options': 'nosniff',
  })
  // 204 and 304 carry no body.
  response.end(status === 204 || status === 304 ? undefined : json)
}
