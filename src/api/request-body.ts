import type { IncomingMessage, ServerResponse } from 'node:http'
import { REQUEST_BODY_BYTES_MAX } from '../domain/limits.ts'
import { answerError } from './answers.ts'

/** A refused body is read off up to this size, so that the client gets to see the answer; then we hang up. */
const DISCARDED_BYTES_MAX = 64 * 1024 * 1024

const EMPTY = Buffer.alloc(0)

/**
 * Reads a JSON body of at most 1 MiB and hands it to `onBody`, or answers 413 or 415, in this order. Nothing is
 * called when the client goes away.
 */
export function readJsonRequest(
  request: IncomingMessage,
  response: ServerResponse,
  onBody: (body: Buffer) => void,
): void {
  // NaN when chunked: then the bytes decide.
  if (Number(request.headers['content-length']) > REQUEST_BODY_BYTES_MAX) {
    refuseTooLarge(request, response)
    return
  }
  if (request.headers.expect !== undefined) response.writeContinue()
  let first: Buffer = EMPTY
  let more: Buffer[] | null = null
  let size = 0
  const onData = (chunk: Buffer): void => {
    size += chunk.length
    if (size > REQUEST_BODY_BYTES_MAX) {
      request.off('data', onData)
      request.off('end', onEnd)
      refuseTooLarge(request, response)
    } else if (first === EMPTY) first = chunk
    else (more ??= [first]).push(chunk)
  }
  const onEnd = (): void => {
    const refusal = mediaTypeRefusal(request)
    if (refusal !== null) answerError(response, 415, refusal)
    else onBody(more === null ? first : Buffer.concat(more, size))
  }
  request.on('data', onData)
  request.on('end', onEnd)
}

function refuseTooLarge(request: IncomingMessage, response: ServerResponse): void {
  // A client that waits for `100 Continue` may never send its body: the connection cannot be used again.
  const headers = request.headers.expect === undefined ? [] : ['Connection', 'close']
  answerError(response, 413, `The body must not be greater than ${REQUEST_BODY_BYTES_MAX} bytes`, headers)
  discardBody(request)
}

/** Reads off what a refused client still sends: hanging up at once would reset the answer away. */
export function discardBody(request: IncomingMessage): void {
  let size = 0
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > DISCARDED_BYTES_MAX) request.destroy()
  })
}

const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i

function mediaTypeRefusal(request: IncomingMessage): string | null {
  const type = request.headers['content-type']
  if (type !== 'application/json' && !JSON_TYPE.test(type ?? '')) {
    return 'The content type must be application/json'
  }
  const encoding = request.headers['content-encoding']
  return encoding === undefined || encoding === 'identity' ? null : 'The content must not be encoded'
}

/** A header that came several times is one list. */
export function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}
