export interface CurlRequest {
  readonly method: string
  readonly url: string
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly body: string | null
  /** Whether the body is base64 of the bytes to send; absent = it is text. */
  readonly isBase64?: boolean
}

/** Set by curl itself, or only true for the call that was made. */
const LEFT_OUT =
  /^(?:host|connection|content-length|transfer-encoding|accept-encoding|webhook-.*|x-punctual-.*)$/i
const SECRET = /auth|cookie|secret|token|password|api-?key/i
/** What the API writes in place of what the viewer may not see. */
export const MASK = '(hidden)'

/** The same request as a command for a POSIX shell. Secrets, and what is masked, are variables, to be set first. */
export function curlOf({ method, url, headers, body, isBase64 = false }: CurlRequest): string {
  // Brackets and braces would stand for several URLs.
  const glob = /[[\]{}]/.test(url) ? '-g ' : ''
  const shownBody = body === MASK ? '"$BODY"' : quoted(body ?? '')
  const decoded = body !== null && isBase64 ? `printf %s ${shownBody} | base64 -d | ` : ''
  const lines = [`${decoded}curl ${glob}-X ${method} ${quoted(url)}`]
  for (const { name, value } of headers) {
    if (!LEFT_OUT.test(name)) lines.push(`-H ${headerOf(name, value)}`)
  }
  // Raw, because a body that begins with @ would name a file.
  if (body !== null) lines.push(isBase64 ? '--data-binary @-' : `--data-raw ${shownBody}`)
  return lines.join(' \\\n  ')
}

/** A push as a command; its token is a variable. @param server where the API is */
export function pushCommandOf(server: string, body: string): string {
  return [
    `curl -X POST ${quoted(`${server}/api/jobs`)}`,
    '-H "Authorization: Bearer $PUNCTUAL_TOKEN"',
    "-H 'Content-Type: application/json'",
    `--data-raw ${quoted(body)}`,
  ].join(' \\\n  ')
}

function headerOf(name: string, value: string): string {
  if (SECRET.test(name) || value === MASK) return `${quoted(`${name}: `)}"$${variableOf(name)}"`
  // Without a value, curl would leave the header out.
  return quoted(value === '' ? `${name};` : `${name}: ${value}`)
}

/** A word of a POSIX shell. Nothing has a meaning between single quotes but the quote itself. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** `X-Api-Key` → `X_API_KEY`. */
function variableOf(name: string): string {
  return name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '_')
    .replace(/^\d/, '_$&')
}
