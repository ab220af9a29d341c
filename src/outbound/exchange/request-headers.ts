import { forbiddenHeaderReason, invalidHeaderValue } from '../../domain/net/header-rules.ts'
import type { HttpCall } from '../../ports/http-caller.ts'
import { appendSignatureHeaders } from './signing.ts'

/** Methods for which an empty body is sent as `content-length: 0` (RFC 9110 §8.6). */
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** The body of a call, and its length in bytes. */
export interface CallBody {
  /** A text is sent in UTF-8; null for none. */
  readonly content: string | Uint8Array | null
  readonly bytes: number
}

/**
 * The headers of a call, names and values alternating: `host` and `connection`, the caller's headers in their order and
 * spelling, ours, and the length of the body. The API has refused forbidden headers; any that remain are dropped.
 */
export function headersToSend(
  call: HttpCall,
  body: CallBody,
  { host, userAgent }: { readonly host: string; readonly userAgent: string },
): string[] {
  const headers = ['host', host, 'connection', 'keep-alive']
  let hasContentType = false
  let hasAcceptEncoding = false
  let hasUserAgent = false
  let hasTrace = false
  for (const name in call.headers) {
    const value = call.headers[name] ?? ''
    if (forbiddenHeaderReason(name) !== null || invalidHeaderValue(value)) continue
    headers.push(name, value)
    const lower = name.toLowerCase()
    if (lower === 'content-type') hasContentType = true
    else if (lower === 'accept-encoding') hasAcceptEncoding = true
    else if (lower === 'user-agent') hasUserAgent = true
    else if (lower === 'traceparent' || lower === 'tracestate') hasTrace = true
  }
  if (body.content !== null && !hasContentType) headers.push('content-type', call.contentType)
  // Bodies are stored and searched as received, never decompressed.
  if (!hasAcceptEncoding) headers.push('accept-encoding', 'identity')
  if (!hasUserAgent) headers.push('user-agent', userAgent)
  const { trace } = call
  if (trace !== undefined && !hasTrace) {
    headers.push('traceparent', trace.parent)
    if (trace.state !== undefined) headers.push('tracestate', trace.state)
  }
  for (const name in call.identity) headers.push(`X-Punctual-${name}`, call.identity[name] ?? '')
  const { webhookId, timestampSeconds } = call
  headers.push('webhook-id', webhookId, 'webhook-timestamp', String(timestampSeconds))
  appendSignatureHeaders(headers, { webhookId, timestampSeconds, body: body.content }, call.settings)
  if (body.bytes > 0 || METHODS_WITH_BODY.has(call.method)) headers.push('content-length', String(body.bytes))
  return headers
}

/**
 * A request in one piece, so that the kernel writes it as one: text whose characters are bytes where the body has only
 * ASCII, as most bodies do, else its bytes.
 * @param headers as `headersToSend` gives them
 */
export function requestOf(line: string, headers: readonly string[], body: CallBody): string | Buffer {
  let head = line
  for (let at = 0; at + 1 < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`
  head += '\r\n'
  const { content, bytes } = body
  if (content === null) return head
  if (typeof content === 'string' && bytes === content.length) return head + content
  const request = Buffer.allocUnsafe(head.length + bytes)
  request.write(head, 0, 'latin1')
  if (typeof content === 'string') request.write(content, head.length)
  else request.set(content, head.length)
  return request
}
