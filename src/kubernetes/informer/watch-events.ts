import { errorOfSilence, type ApiStatus } from '../client/api-errors.ts'

/** An object has at most 1.5 MiB in etcd; its JSON may be longer. */
export const WATCH_EVENT_BYTES_MAX = 16 * 1024 * 1024

/** One line of a watch's body, as the server sent it. */
export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: Versioned }
  | { readonly type: 'ERROR'; readonly object: ApiStatus }

interface Versioned {
  readonly metadata: { readonly resourceVersion: string }
}

const NEWLINE = 0x0a
const TYPES: ReadonlySet<string> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'])

/**
 * Splits a body into events. Drops a last line without its newline: the connection broke in the middle of an event, which
 * the next watch sends again. Throws ResourceApiError for a line that is too long or no event.
 */
export async function* watchEventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<WatchEvent> {
  let partial: Uint8Array[] = []
  let partialBytes = 0
  for await (const chunk of body) {
    let from = 0
    // Splits bytes, not text: a chunk may end inside a character.
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      const line = Buffer.concat([...partial, chunk.subarray(from, end)]).toString('utf8')
      partial = []
      partialBytes = 0
      from = end + 1
      if (line.trim() !== '') yield eventOf(line)
    }
    if (from === chunk.length) continue
    partial.push(chunk.subarray(from))
    partialBytes += chunk.length - from
    if (partialBytes > WATCH_EVENT_BYTES_MAX) {
      throw errorOfSilence(`an event of a watch has more than ${WATCH_EVENT_BYTES_MAX} bytes`)
    }
  }
}

function eventOf(line: string): WatchEvent {
  try {
    const event: unknown = JSON.parse(line)
    if (isEvent(event)) return event
  } catch {
    // The parser's message would quote the line, which may be that of a Secret.
  }
  throw errorOfSilence('a watch sent a line that is no event')
}

function isEvent(value: unknown): value is WatchEvent {
  if (!isRecord(value) || !isRecord(value.object)) return false
  if (value.type === 'ERROR') return true
  if (typeof value.type !== 'string' || !TYPES.has(value.type)) return false
  const { metadata } = value.object
  return isRecord(metadata) && typeof metadata.resourceVersion === 'string'
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
