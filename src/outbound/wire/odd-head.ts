import { invalidResponse } from '../call-failure.ts'
import { isBlank, trimmed } from './blanks.ts'
import { Framing } from './framing.ts'
import { ResponseHead } from './response-head.ts'

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/s
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/
/** They would end the value for another reader (RFC 9110 §5.5). */
const LINE_ENDS = /[\r\n\0]/g
const FRAMING_NAMES = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding'])
/** A target may send thousands of bad lines. */
const NOTES_MAX = 8
/** Of a header's name, in a note. */
const NAME_CHARACTERS_MAX = 64

/**
 * Parses a head that is not sound, as the common clients do: what cannot be a header is left out, and noted.
 * @param received from the status line to the empty line, each byte a character
 * @throws ConnectionFailedError if there is no valid status line
 */
export function parseOddHead(received: string): ResponseHead {
  const notes = new Notes()
  const lines = linesOf(received, notes)
  const matched = STATUS_LINE.exec(lines[0] ?? '')
  if (matched === null) throw invalidResponse()
  if (CONTROL.test(lines[0] ?? '')) notes.add('The status line has a control character.')
  const headers = headersIn(lines, notes)
  const status = Number(matched[2])
  const framing = new Framing(matched[1] === '0')
  for (const [name, value] of headers) {
    const lower = name.toLowerCase()
    if (FRAMING_NAMES.has(lower)) framing.take(lower, value)
  }
  const bodyEnd = framing.bodyEndOf(status)
  for (const note of framing.notes ?? []) notes.add(note)
  return new ResponseHead(headers, {
    status,
    bodyEnd,
    keepAliveMs: 0,
    isEndSure: framing.isEndSure,
    notes: notes.all,
  })
}

/** The lines without their ends, up to the empty one. */
function linesOf(received: string, notes: Notes): string[] {
  const lines = received.split('\n')
  // Behind the last line end, and before it the empty line.
  lines.splice(-2)
  const isLfAlone = (line: string): boolean => !line.endsWith('\r')
  if (lines.some(isLfAlone) || !received.endsWith('\r\n')) notes.add('Lines of the head end in LF alone.')
  return lines.map((line) => (isLfAlone(line) ? line : line.slice(0, -1)))
}

function headersIn(lines: readonly string[], notes: Notes): Array<readonly [string, string]> {
  const headers: Array<readonly [string, string]> = []
  /** The header of the line before; null = that line was left out. */
  let last: readonly [string, string] | null = null
  for (const [at, line] of lines.entries()) {
    if (at === 0) continue
    const which = `Line ${at + 1} of the head`
    if (!isBlank(line, 0)) {
      last = headerIn(line, which, notes)
      if (last !== null) headers.push(last)
    } else if (last !== null) {
      last = [last[0], `${last[1]} ${valueOf(line, 0, { which, notes })}`]
      headers[headers.length - 1] = last
    } else if (at === 1) notes.add(`${which} goes on with no header.`)
  }
  return headers
}

function headerIn(line: string, which: string, notes: Notes): readonly [string, string] | null {
  const colon = line.indexOf(':')
  if (colon === -1) {
    notes.add(`${which} has no colon.`)
    return null
  }
  const name = trimmed(line.slice(0, colon), 0)
  if (!TOKEN.test(name)) {
    notes.add(`${which} has no valid name.`)
    return null
  }
  const named = `${which} (${name.slice(0, NAME_CHARACTERS_MAX)})`
  if (name.length < colon) notes.add(`${named} has white space before its colon.`)
  return [name, valueOf(line, colon + 1, { which: named, notes })]
}

function valueOf(
  line: string,
  from: number,
  { which, notes }: { readonly which: string; readonly notes: Notes },
): string {
  const value = trimmed(line, from)
  if (!CONTROL.test(value)) return value
  notes.add(`${which} has a control character.`)
  return value.replaceAll(LINE_ENDS, ' ')
}

class Notes {
  readonly all: string[] = []

  add(text: string): void {
    if (this.all.length < NOTES_MAX) this.all.push(text)
    else this.all[NOTES_MAX] = 'The head has further errors.'
  }
}
