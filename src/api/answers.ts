import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ValidationProblem } from '../contract/fields/field-errors.ts'
import {
  EditRefusedError,
  QuotaExceededError,
  ResourceApiError,
  StorageFullError,
  StoreUnavailableError,
} from '../domain/errors.ts'
import { RETRY_AFTER_SECONDS } from '../domain/limits.ts'
import type { Logger } from '../ports/runtime.ts'

/** Header names and values in turn, the form `writeHead` copies without looking at it. */
export type FlatHeaders = readonly string[]

const NO_HEADERS: FlatHeaders = []

/** Writes a JSON answer. Does nothing when the client is gone or an answer is on its way. */
export function answerJson(
  response: ServerResponse,
  status: number,
  body: string,
  headers: FlatHeaders = NO_HEADERS,
): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, jsonHeaders(body, headers))
  response.end(body)
}

function jsonHeaders(body: string, headers: FlatHeaders): string[] {
  const fixed = [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(Buffer.byteLength(body)),
    'X-Content-Type-Options',
    'nosniff',
    'Cache-Control',
    'no-store',
  ]
  return headers.length === 0 ? fixed : [...fixed, ...headers]
}

export function answerError(
  response: ServerResponse,
  status: number,
  error: string,
  headers: FlatHeaders = NO_HEADERS,
): void {
  answerJson(response, status, JSON.stringify({ error }), headers)
}

/** The whole answer, as the client sees it; whoever calls ends the response later. */
export function beginError(
  response: ServerResponse,
  status: number,
  error: string,
  headers: FlatHeaders = NO_HEADERS,
): void {
  if (response.headersSent || response.destroyed) return
  const body = JSON.stringify({ error })
  response.writeHead(status, jsonHeaders(body, headers))
  response.write(body)
}

/** 422, the one error with another shape. */
export function answerProblem(response: ServerResponse, problem: ValidationProblem): void {
  answerJson(response, 422, JSON.stringify({ message: problem.message, errors: problem.errors }))
}

/** 429 or 503: come back later. */
export function answerRetryLater(
  response: ServerResponse,
  status: 429 | 503,
  error: string,
  afterSeconds: number = RETRY_AFTER_SECONDS,
): void {
  answerError(response, status, error, ['Retry-After', String(afterSeconds)])
}

export function answerNotFound(response: ServerResponse): void {
  answerError(response, 404, 'Not found')
}

/** The end of a request that threw. Only faults of ours and of the store get here, never bad input. */
export function answerFault(
  request: IncomingMessage,
  response: ServerResponse,
  fault: unknown,
  logger: Logger,
): void {
  if (fault instanceof StoreUnavailableError) {
    answerRetryLater(response, 503, 'The job store is not available, try again')
  } else if (fault instanceof StorageFullError) {
    answerRetryLater(response, 503, 'The job store is full')
  } else if (fault instanceof ResourceApiError) {
    answerRetryLater(response, 503, 'The Kubernetes API is not available, try again', retryAfterOf(fault))
  } else if (fault instanceof QuotaExceededError) {
    answerRetryLater(response, 429, fault.message, fault.retryAfterSeconds)
  } else if (fault instanceof EditRefusedError) {
    answerError(response, 409, fault.message)
  } else {
    logger.error('request failed', { method: request.method, path: pathOf(request), fault })
    answerError(response, 500, 'Internal server error')
  }
}

function retryAfterOf({ retryAfterMs }: ResourceApiError): number {
  return retryAfterMs === null ? RETRY_AFTER_SECONDS : Math.max(1, Math.ceil(retryAfterMs / 1000))
}

/** Without the query string, which may carry what does not belong in a log. */
function pathOf(request: IncomingMessage): string {
  const url = request.url ?? ''
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}
