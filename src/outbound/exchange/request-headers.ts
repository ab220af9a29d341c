import { forbiddenHeaderReason, invalidHeaderValue } from '../../domain/net/header-rules.ts'
import type { HttpCall } from '../../ports/http-caller.ts'
import { appendSignatureHeaders } from './signing.ts'

/** Methods for which an empty body is sent as `content-length: 0` (RFC 9110 §8.6). */
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/**
 * Names and values in turn: the caller's headers in their order and spelling, then ours. The API has refused forbidden
 * headers; any that remain are dropped.
 */
export function headersToSend(call: HttpCall, body: string | null, userAgent: string): string[] {
  const headers: string[] = []
  let hasContentType = false
  let hasAcceptEncoding = false
  let hasUserAgent = false
  for (const [name, value] of Object.entries(call.headers)) {
    if (forbiddenHeaderReason(name) !== null || invalidHeaderValue(value)) continue
    headers.push(name, value)
    const lower = name.toLowerCase()
    if (lower === 'content-type') hasContentType = true
    else if (lower === 'accept-encoding') hasAcceptEncoding = true
    else if (lower === 'user-agent') hasUserAgent = true
  }
  if (body !== null && !hasContentType) headers.push('content-type', 'application/json')
  // Bodies are stored and searched as received, never decompressed.
  if (!hasAcceptEncoding) headers.push('accept-encoding', 'identity')
  if (!hasUserAgent) headers.push('user-agent', userAgent)
  for (const [name, value] of Object.entries(call.identity)) headers.push(`X-Punctual-${name}`, value)
  headers.push('webhook-id', call.webhookId, 'webhook-timestamp', String(call.timestampSeconds))
  appendSignatureHeaders(
    headers,
    { webhookId: call.webhookId, timestampSeconds: call.timestampSeconds, body },
    call.settings,
  )
  return headers
}

/**
 * What a call sends, with the headers that frame it.
 * @param bodyBytes length of the call's body in UTF-8; 0 for none
 */
export function headersAsSent(
  headers: readonly string[],
  call: HttpCall,
  { host, bodyBytes }: { readonly host: string; readonly bodyBytes: number },
): ReadonlyArray<readonly [string, string]> {
  const sent: Array<readonly [string, string]> = [
    ['host', host],
    ['connection', 'keep-alive'],
  ]
  for (let at = 0; at + 1 < headers.length; at += 2) sent.push([headers[at] ?? '', headers[at + 1] ?? ''])
  if (bodyBytes > 0 || METHODS_WITH_BODY.has(call.method)) sent.push(['content-length', String(bodyBytes)])
  return sent
}

/**
 * A request in one piece, so that the kernel writes it as one: text whose characters are bytes where the body has only
 * ASCII, as most bodies do, else its bytes.
 */
export function requestOf(
  line: string,
  headers: ReadonlyArray<readonly [string, string]>,
  { body, bodyBytes }: { readonly body: string | null; readonly bodyBytes: number },
): string | Buffer {
  let head = line
  for (const [name, value] of headers) head += `${name}: ${value}\r\n`
  head += '\r\n'
  if (body === null) return head
  if (bodyBytes === body.length) return head + body
  const request = Buffer.allocUnsafe(head.length + bodyBytes)
  request.write(head, 0, 'latin1')
  request.write(body, head.length)
  return request
}
