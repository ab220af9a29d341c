import { ConnectionFailedError } from '../call-failure.ts'
import { KEEP_ALIVE_MARGIN_MS, KEEP_ALIVE_MS, KEEP_ALIVE_MS_MAX } from '../bounds.ts'

/** How a body ends: after so many bytes, with its last chunk, or with the connection. */
export type BodyEnd = number | 'last_chunk' | 'connection'

/** A sound head. Its headers become pairs when somebody looks: most responses are only counted. */
export class ResponseHead {
  readonly status: number
  readonly bodyEnd: BodyEnd
  /** How long the connection may idle after this response; 0 if it cannot be used again. */
  readonly keepAliveMs: number
  readonly #text: string

  constructor(text: string, fields: Pick<ResponseHead, 'status' | 'bodyEnd' | 'keepAliveMs'>) {
    this.status = fields.status
    this.bodyEnd = fields.bodyEnd
    this.keepAliveMs = fields.keepAliveMs
    this.#text = text
  }

  /** In their order and spelling, values without the white space around them. */
  get headers(): ReadonlyArray<readonly [string, string]> {
    const [, ...lines] = this.#text.split('\r\n')
    return lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), trimmed(line, colon + 1)] as const
    })
  }
}

/** A status line, and header lines in one piece each. No part of it can match in two ways, so it takes linear time. */
const HEAD =
  /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*)*$/
/** A line that begins with white space goes on with the one before it (RFC 9112 §5.2). */
const FOLD = /\r\n[\t ]+/g
const FRAMING = /\r\n(connection|content-length|keep-alive|transfer-encoding):([^\r]*)/gi
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
 * @param received from the status line to the last header, each byte a character, without the last line end
 * @throws ConnectionFailedError
 */
export function parseResponseHead(received: string): ResponseHead {
  const text = unfolded(received)
  const matched = HEAD.exec(text)
  if (matched === null) throw invalidResponse()
  const status = Number(matched[2])
  const said: Said = {
    contentLength: null,
    transferCodings: [],
    closes: false,
    keepsAlive: matched[1] === '1',
    keepAliveMs: KEEP_ALIVE_MS,
  }
  FRAMING.lastIndex = 0
  for (let found = FRAMING.exec(text); found !== null; found = FRAMING.exec(text)) {
    note(said, (found[1] ?? '').toLowerCase(), trimmed(found[2] ?? '', 0))
  }
  const bodyEnd = STATUSES_WITHOUT_BODY.has(status) ? 0 : bodyEndOf(said)
  return new ResponseHead(text, {
    status,
    bodyEnd,
    keepAliveMs: keepAliveMsOf(said, bodyEnd, matched[1] === '0'),
  })
}

function unfolded(text: string): string {
  if (!text.includes('\r\n ') && !text.includes('\r\n\t')) return text
  // The status line is none to go on with.
  const second = text.charAt(text.indexOf('\r\n') + 2)
  if (second === ' ' || second === '\t') throw invalidResponse()
  return text.replaceAll(FOLD, ' ')
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

function note(said: Said, name: string, value: string): void {
  switch (name) {
    case 'content-length':
      if (said.contentLength !== null || !LENGTH.test(value)) throw invalidResponse()
      said.contentLength = Number(value)
      break
    case 'transfer-encoding':
      for (const coding of value.toLowerCase().split(',')) said.transferCodings.push(trimmed(coding, 0))
      break
    case 'connection':
      noteConnection(said, value)
      break
    default:
      noteKeepAlive(said, value)
  }
}

function noteConnection(said: Said, value: string): void {
  for (const option of value.toLowerCase().split(',')) {
    const word = trimmed(option, 0)
    if (word === 'close') said.closes = true
    else if (word === 'keep-alive') said.keepsAlive = true
  }
}

function noteKeepAlive(said: Said, value: string): void {
  const timeout = KEEP_ALIVE_TIMEOUT.exec(value)
  if (timeout === null) return
  said.keepAliveMs = Math.max(
    0,
    Math.min(Number(timeout[1]) * 1_000 - KEEP_ALIVE_MARGIN_MS, KEEP_ALIVE_MS_MAX),
  )
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
