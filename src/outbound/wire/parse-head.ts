import { trimmed } from './blanks.ts'
import { Framing } from './framing.ts'
import { parseOddHead } from './odd-head.ts'
import { ResponseHead } from './response-head.ts'

/** A status line, and header lines in one piece each. No part of it can match in two ways, so it takes linear time. */
const SOUND =
  /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*)*$/
/** A line that begins with white space goes on with the one before it (RFC 9112 §5.2). */
const FOLD = /\r\n[\t ]+/g
const FRAMING = /\r\n(connection|content-length|keep-alive|transfer-encoding):([^\r]*)/gi
const END = '\r\n\r\n'

/**
 * Parses a head. One that RFC 9112 does not allow is taken as well, with notes of what is wrong, as long as its status
 * line can be read: the target has done its work by then, and would do it again if we did not listen.
 * @param received from the status line to the empty line, each byte a character
 * @throws ConnectionFailedError if there is no valid status line
 */
export function parseResponseHead(received: string): ResponseHead {
  if (!received.endsWith(END)) return parseOddHead(received)
  const text = unfolded(received.slice(0, -END.length))
  const matched = text === null ? null : SOUND.exec(text)
  if (text === null || matched === null) return parseOddHead(received)
  const status = Number(matched[2])
  const framing = new Framing(matched[1] === '0')
  FRAMING.lastIndex = 0
  for (let found = FRAMING.exec(text); found !== null; found = FRAMING.exec(text)) {
    framing.take((found[1] ?? '').toLowerCase(), trimmed(found[2] ?? '', 0))
  }
  const bodyEnd = framing.bodyEndOf(status)
  const keepAliveMs = framing.keepAliveMsAfter(bodyEnd)
  const { isEndSure, notes } = framing
  return new ResponseHead(text, { status, bodyEnd, keepAliveMs, isEndSure, notes })
}

/** null = the status line goes on in the next one. */
function unfolded(text: string): string | null {
  if (!text.includes('\r\n ') && !text.includes('\r\n\t')) return text
  const second = text.charAt(text.indexOf('\r\n') + 2)
  return second === ' ' || second === '\t' ? null : text.replaceAll(FOLD, ' ')
}
