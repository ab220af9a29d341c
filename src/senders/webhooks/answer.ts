import { excerpt } from '../../domain/excerpt.ts'
import { printable } from '../messages/printable.ts'

const SAID_CHARACTERS_MAX = 160
/** Shorter parts of a URL are no secrets, and occur in any text. */
const SECRET_CHARACTERS_MIN = 4

/**
 * Summarizes a webhook's answer for people: the status and the start of the body. A body that repeats a part of the
 * URL, as many servers do when they know no such path, is not shown: the URL is a secret.
 */
export function answerText(status: number, body: Uint8Array, url: string): string {
  // Judged whole: once cut, a text may hold the beginning of a secret that is not found in it any more.
  const text = saidIn(Buffer.from(body).toString('utf8'))
  return text === '' || repeats(text, url)
    ? String(status)
    : `${status} ${excerpt(text, SAID_CHARACTERS_MAX)}`
}

function saidIn(body: string): string {
  // A page is for browsers.
  if (/^\s*</.test(body)) return ''
  if (!/^\s*[{[]/.test(body)) return printable(body, Infinity)
  const { message, error, code } = objectIn(body)
  const text = typeof message === 'string' ? message : error
  const said = typeof text === 'string' ? printable(text, Infinity) : ''
  return said !== '' && typeof code === 'number' ? `${said} (${code})` : said
}

/** The members of a JSON object; none if it is none, or was cut. */
export function objectIn(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

function repeats(text: string, urlText: string): boolean {
  const url = URL.parse(urlText)
  if (url === null) return true
  const lower = text.toLowerCase()
  const parts = [...url.pathname.split('/'), ...url.search.slice(1).split(/[&=]/), url.hash.slice(1)]
  return parts
    .flatMap((part) => [part, decoded(part)])
    .some((part) => part.length >= SECRET_CHARACTERS_MIN && lower.includes(part.toLowerCase()))
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
