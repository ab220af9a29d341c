import { MIMEType } from 'node:util'
import { CONTENT_TYPE_CHARACTERS_MAX } from '../../../domain/limits.ts'
import { BODY_ENCODINGS, type BodyEncoding } from '../../../domain/jobs/job.ts'
import { invalidHeaderValue } from '../../../domain/net/header-rules.ts'
import type { JsonFields } from '../../fields/json-body.ts'
import {
  mustBeBase64,
  mustBeContentType,
  mustBeObject,
  mustBeString,
  mustBeWellFormed,
  mustHaveValue,
  prohibits,
} from '../../fields/validation-texts.ts'

/** What a job sends, by `payload`, or by `body` and `body_encoding`. */
export interface PushContent {
  readonly payload: string | null
  readonly bodyEncoding: BodyEncoding | null
}

export const CONTENT_FIELDS = ['payload', 'body', 'body_encoding'] as const

const NO_CONTENT: PushContent = { payload: null, bodyEncoding: null }

/** The exact source text of JSON, so that numbers keep their digits and fields their order. */
export function readContent(fields: JsonFields): PushContent {
  const payload = fields.source('payload')
  const body = fields.source('body')
  const encoding = fields.choice('body_encoding', BODY_ENCODINGS)
  if (payload !== undefined && !payload.startsWith('{')) fields.refuse('payload', mustBeObject)
  if (body === undefined) {
    if (encoding !== null) fields.refuse('body', mustHaveValue)
    return payload === undefined ? NO_CONTENT : { payload, bodyEncoding: null }
  }
  if (payload !== undefined) fields.refuse('body', (path) => prohibits(path, 'payload'))
  return readBody(fields, body, encoding)
}

/** @param source of `body`, which is not null */
function readBody(fields: JsonFields, source: string, given: BodyEncoding | null): PushContent {
  const bodyEncoding = given ?? (source.startsWith('"') ? 'text' : 'json')
  if (bodyEncoding === 'json') return { payload: source, bodyEncoding }
  const text = fields.value('body')
  if (typeof text !== 'string') fields.refuse('body', mustBeString)
  else if (bodyEncoding === 'base64' && !isBase64(text)) fields.refuse('body', mustBeBase64)
  // A lone surrogate has no UTF-8.
  else if (!text.isWellFormed()) fields.refuse('body', mustBeWellFormed)
  else return { payload: text, bodyEncoding }
  return NO_CONTENT
}

/** Whether it is base64 of RFC 4648 §4 with its padding, as it would be written again. */
function isBase64(text: string): boolean {
  return Buffer.from(text, 'base64').toString('base64') === text
}

/**
 * The value of the header Content-Type; null = not given.
 * @param headers names of those that the request gives otherwise, as the fields `headers` and `header_secrets`
 */
export function readContentType(fields: JsonFields, headers: readonly string[]): string | null {
  const value = fields.value('content_type')
  if (value === undefined) return null
  const other = headers.find((name) => name.toLowerCase() === 'content-type')
  if (typeof value !== 'string') return fields.refuse('content_type', mustBeString)
  if (!isContentType(value)) return fields.refuse('content_type', mustBeContentType)
  if (other !== undefined) return fields.refuse('content_type', (path) => prohibits(path, `headers.${other}`))
  return value
}

function isContentType(text: string): boolean {
  if (text.length > CONTENT_TYPE_CHARACTERS_MAX || invalidHeaderValue(text)) return false
  try {
    return new MIMEType(text).essence !== ''
  } catch {
    return false
  }
}
