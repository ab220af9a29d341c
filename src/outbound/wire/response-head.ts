import { ConnectionFailedError } from '../call-failure.ts'
import { KEEP_ALIVE_MARGIN_MS, KEEP_ALIVE_MS, KEEP_ALIVE_MS_MAX } from '../bounds.ts'

/** How a body ends: after so many bytes, with its last chunk, or with the connection. */
export type BodyEnd = number | 'last_chunk' | 'connection'

export interface ResponseHead {
  readonly status: number
  /** In their order and spelling, values without the white space around them. */
  readonly headers: ReadonlyArray<readonly [string, string]>
  readonly bodyEnd: BodyEnd
  /** How long the connection may idle after this response; 0 if it cannot be used again. */
  readonly keepAliveMs: number
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** Fewer digits than a safe integer has. */
const LENGTH = /^\d{1,15}$/
const KEEP_ALIVE_TIMEOUT = /(?:^|[,;\s])timeout\s*=\s*(\d{1,6})/i
/** Responses that have no body, whatever their headers say (RFC 9112 §6.3). */
const STATUSES_WITHOUT_BODY = new Set([204, 304])

/** What the headers say about framing and the connection. */
interface Said {
  contentLength: number | null
  transferCodings: string[]
  closes: boolean
  keepsAlive: boolean
  keepAliveMs: number
}

export function invalidResponse(): ConnectionFailedError {
  return new ConnectionFailedError('The response is not valid HTTP/1.1.')
}

/**
 * Parses a head as strictly as RFC 9112 lets a client: a response that two readers could cut differently is refused.
 * @param text from the status line to the last header, each byte a character, without the last line end
 * @throws ConnectionFailedError
 */
export function parseResponseHead(text: string): ResponseHead {
  const [statusLine = '', ...lines] = text.split('\r\n')
  const matched = STATUS_LINE.exec(statusLine)
  if (matched === null) throw invalidResponse()
  const status = Number(matched[2])
  const headers: Array<readonly [string, string]> = []
  const said: Said = {
    contentLength: null,
    transferCodings: [],
    closes: false,
    keepsAlive: matched[1] === '1',
    keepAliveMs: KEEP_ALIVE_MS,
  }
  for (const line of unfolded(lines)) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0))
    const value = trimmed(line, colon + 1)
    if (!NAME.test(name) || !VALUE.test(value)) throw invalidResponse()
    headers.push([name, value])
    note(said, name, value)
  }
  const bodyEnd = STATUSES_WITHOUT_BODY.has(status) ? 0 : bodyEndOf(said)
  return { status, headers, bodyEnd, keepAliveMs: keepAliveMsOf(said, bodyEnd, matched[1] === '0') }
}

/** A line that begins with white space goes on with the one before it (RFC 9112 §5.2). */
function unfolded(lines: string[]): readonly string[] {
  if (!lines.some(isContinuation)) return lines
  const whole: string[] = []
  for (const line of lines) {
    const last = whole.at(-1)
    if (!isContinuation(line)) whole.push(line)
    else if (last === undefined) throw invalidResponse()
    else whole[whole.length - 1] = `${last} ${trimmed(line, 0)}`
  }
  return whole
}

function isContinuation(line: string): boolean {
  return line.startsWith(' ') || line.startsWith('\t')
}

/** Without spaces and tabs at both ends, and no other characters: `String.trim` takes more. */
function trimmed(line: string, from: number): string {
  let start = from
  let end = line.length
  while (start < end && isBlank(line, start)) start += 1
  while (end > start && isBlank(line, end - 1)) end -= 1
  return line.slice(start, end)
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 0x20 || code === 0x09
}

/** Only names of these lengths are looked at. */
function note(said: Said, name: string, value: string): void {
  if (name.length === 'connection'.length) noteConnection(said, name.toLowerCase(), value)
  else if (name.length === 'content-length'.length) noteLength(said, name.toLowerCase(), value)
  else if (name.length === 'transfer-encoding'.length && name.toLowerCase() === 'transfer-encoding') {
    for (const coding of value.toLowerCase().split(',')) said.transferCodings.push(trimmed(coding, 0))
  }
}

function noteConnection(said: Said, name: string, value: string): void {
  if (name === 'keep-alive') {
    const timeout = KEEP_ALIVE_TIMEOUT.exec(value)
    if (timeout === null) return
    said.keepAliveMs = Math.max(
      0,
      Math.min(Number(timeout[1]) * 1_000 - KEEP_ALIVE_MARGIN_MS, KEEP_ALIVE_MS_MAX),
    )
  } else if (name === 'connection') {
    for (const option of value.toLowerCase().split(',')) {
      const word = trimmed(option, 0)
      if (word === 'close') said.closes = true
      else if (word === 'keep-alive') said.keepsAlive = true
    }
  }
}

function noteLength(said: Said, name: string, value: string): void {
  if (name !== 'content-length') return
  if (said.contentLength !== null || !LENGTH.test(value)) throw invalidResponse()
  said.contentLength = Number(value)
}

function bodyEndOf({ contentLength, transferCodings }: Said): BodyEnd {
  if (transferCodings.length === 0) return contentLength ?? 'connection'
  // Both would be the mark of a smuggled response (RFC 9112 §6.3).
  if (contentLength !== null) throw invalidResponse()
  const chunkedAt = transferCodings.indexOf('chunked')
  if (chunkedAt === -1) return 'connection'
  if (chunkedAt !== transferCodings.length - 1) throw invalidResponse()
  return 'last_chunk'
}

function keepAliveMsOf(said: Said, bodyEnd: BodyEnd, isHttp10: boolean): number {
  if (said.closes || !said.keepsAlive || bodyEnd === 'connection') return 0
  // A server of HTTP/1.0 knows no codings, so where this body ends is not certain (RFC 9112 §6.1).
  if (isHttp10 && said.transferCodings.length > 0) return 0
  return said.keepAliveMs
}
