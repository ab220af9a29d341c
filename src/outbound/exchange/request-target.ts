/** Tabs and line ends, which the URL standard passes over wherever they stand. */
const PASSED_OVER = /[\t\n\r]/g
/** Controls and spaces around a URL, which it passes over too. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const AROUND = /^[\0-\x20]+|[\0-\x20]+$/g
const PARTS = /^[a-z][a-z0-9+.-]*:[/\\]*[^/\\?#]*([^?#]*)(\?[^#]*)?/i
/** What the URL standard encodes in a path and in a query: no server takes all of it as it is. */
const UNFIT_IN_PATH = /[^!$-;=?-\]_a-z|~]+/gu
const UNFIT_IN_QUERY = /[^!$-;=?-~]+/gu
/** Nothing in it has to be encoded, and no other reader would cut it differently. */
const PLAIN = /^https?:\/\/[\w.:[\]-]+(\/[!$-;=?-[\]_a-z~]*)$/

/**
 * The path and query of a request line, as they are written in the URL: a target may have signed them, and `new URL`
 * writes some another way (`'`, `%2e%2e`, a `?` with nothing behind it). Only what may not stand there is encoded.
 * @param url http or https, as `new URL` takes it
 */
export function requestTarget(url: string): string {
  const plain = PLAIN.exec(url)?.[1]
  if (plain !== undefined) return plain
  const [, path = '', query = ''] = PARTS.exec(url.replaceAll(PASSED_OVER, '').replaceAll(AROUND, '')) ?? []
  const slashed = path.replaceAll('\\', '/')
  const target = encoded(slashed, UNFIT_IN_PATH) + encoded(query, UNFIT_IN_QUERY)
  return target.startsWith('/') ? target : `/${target}`
}

function encoded(text: string, unfit: RegExp): string {
  return text.replaceAll(unfit, (part) => encodeURIComponent(part.toWellFormed()))
}
