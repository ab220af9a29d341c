import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ValidationProblem } from '../contract/fields/field-errors.ts'
import { redirectedProblem } from '../contract/fields/header-fields.ts'
import {
  EditConflictError,
  EditRefusedError,
  QuotaExceededError,
  RedirectedHeadersError,
  ResourceApiError,
  StorageFullError,
  StoreUnavailableError,
} from '../domain/errors.ts'
import { RETRY_AFTER_SECONDS } from '../domain/limits.ts'
import type { Permission } from '../domain/access/permission.ts'
import { traceFields } from '../domain/net/trace-context.ts'
import type { Logger } from '../ports/runtime.ts'
import { compressed, dynamicEncoding } from './encoding.ts'
import { notedTrace } from './measuring/request-trace.ts'

/** Names and values in turn, which `writeHead` takes as they are. */
export type FlatHeaders = readonly string[]

const NO_HEADERS: FlatHeaders = []
const SAFE_HEADERS: FlatHeaders = ['X-Content-Type-Options', 'nosniff', 'Cache-Control', 'no-store']
const TAG_CHARACTERS = 16

/**
 * Sends JSON, compressed where the client takes that and it is worth it. Does nothing once an answer has started or the
 * client has disconnected.
 */
export function answerJson(
  response: ServerResponse,
  status: number,
  body: string,
  headers: FlatHeaders = NO_HEADERS,
): void {
  const encoding = dynamicEncoding(response, body)
  if (encoding === null) return send(response, status, body, headers)
  const encoded = ['Content-Encoding', encoding, 'Vary', 'Accept-Encoding', ...headers]
  compressed(body, encoding).then(
    (bytes) => send(response, status, bytes, encoded),
    () => send(response, status, body, headers),
  )
}

function send(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: FlatHeaders = NO_HEADERS,
): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, jsonHeaders(body, headers))
  response.end(body)
}

function jsonHeaders(body: string | Buffer, headers: FlatHeaders): string[] {
  const fixed = [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(Buffer.byteLength(body)),
    ...SAFE_HEADERS,
  ]
  return headers.length === 0 ? fixed : [...fixed, ...headers]
}

/** Answers what a client may read again and again: 304 if it names the entity tag of what it has. */
export function answerFresh(
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  body: string,
): void {
  const tag = `W/"${hash('sha256', body, 'base64url').slice(0, TAG_CHARACTERS)}"`
  const known = (request.headers['if-none-match'] ?? '').split(',').map((one) => one.trim())
  if (!known.includes(tag)) return answerJson(response, 200, body, ['ETag', tag])
  if (response.headersSent || response.destroyed) return
  response.writeHead(304, ['ETag', tag, ...SAFE_HEADERS])
  response.end()
}

export function answerError(
  response: ServerResponse,
  status: number,
  error: string,
  headers: FlatHeaders = NO_HEADERS,
): void {
  answerJson(response, status, JSON.stringify({ error }), headers)
}

/** Sends the whole answer and leaves the response open: the caller ends it. */
export function startError(
  response: ServerResponse,
  status: number,
  error: string,
  headers: FlatHeaders,
): void {
  if (response.headersSent || response.destroyed) return
  const body = JSON.stringify({ error })
  response.writeHead(status, jsonHeaders(body, headers))
  response.write(body)
}

/** 422, the only error with another shape. */
export function answerProblem(response: ServerResponse, { message, errors }: ValidationProblem): void {
  answerJson(response, 422, JSON.stringify({ message, errors }))
}

export function answerRetryLater(
  response: ServerResponse,
  status: 429 | 503,
  error: string,
  afterSeconds: number = RETRY_AFTER_SECONDS,
): void {
  answerError(response, status, error, ['Retry-After', String(afterSeconds)])
}

/** Text of a 403: the team is right, but this token or user may not do it. */
export function forbiddenText(needed: Permission): string {
  return `This needs the permission ${needed}`
}

export const OTHER_QUEUES_TEXT = 'This token is limited to queues and may not do this beyond them'

/** 403 for a token that is limited to queues, where the answer is not of one queue, or of another one. */
export function answerOtherQueues(response: ServerResponse): void {
  answerError(response, 403, OTHER_QUEUES_TEXT)
}

export function answerNotFound(response: ServerResponse): void {
  answerError(response, 404, 'Not found')
}

/** Answers a request whose handler threw: a fault of ours, of Redis or of the Kubernetes API, never invalid input. */
export function answerFault(
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
  fault: unknown,
  logger: Logger,
): void {
  if (fault instanceof StoreUnavailableError) {
    answerRetryLater(response, 503, 'The job store is unavailable, try again')
  } else if (fault instanceof StorageFullError) {
    answerRetryLater(response, 503, 'The job store is full')
  } else if (fault instanceof ResourceApiError) {
    answerRetryLater(response, 503, 'The Kubernetes API is unavailable, try again', retryAfterOf(fault))
  } else if (fault instanceof QuotaExceededError) {
    answerRetryLater(response, 429, fault.message, fault.retryAfterSeconds)
  } else if (fault instanceof EditConflictError) {
    const headers = fault.version === null ? NO_HEADERS : ['ETag', fault.version]
    answerJson(response, 409, JSON.stringify({ error: fault.message, version: fault.version }), headers)
  } else if (fault instanceof RedirectedHeadersError) {
    answerProblem(response, redirectedProblem(fault.headers))
  } else if (fault instanceof EditRefusedError) {
    answerError(response, 409, fault.message)
  } else {
    // Without the query string, which may carry what does not belong in a log.
    const trace = traceFields(notedTrace(response))
    logger.error('request failed', { method, path: url.replace(/\?.*$/s, ''), fault, ...trace })
    answerError(response, 500, 'Internal server error')
  }
}

function retryAfterOf({ retryAfterMs }: ResourceApiError): number {
  return retryAfterMs === null ? RETRY_AFTER_SECONDS : Math.max(1, Math.ceil(retryAfterMs / 1000))
}
