export interface CurlRequest {
  readonly method: string
  readonly url: string
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly body: string | null
}

/** Set by curl itself, or only true for the call that was made. */
const LEFT_OUT = /^(?:host|connection|content-length|accept-encoding|webhook-|x-punctual-)/i
const SECRET = /^(?:authorization|proxy-authorization|cookie|x-api-key|x-auth-token)$/i
/** What the API writes in place of what the viewer may not see. */
const MASKED = /^\*+$/

/** The same request as a command for a POSIX shell. Secrets are variables, which are to be set first. */
export function curlOf({ method, url, headers, body }: CurlRequest): string {
  const lines = [`curl -X ${method} ${quoted(url)}`]
  for (const { name, value } of headers) {
    if (LEFT_OUT.test(name)) continue
    const isHidden = SECRET.test(name) || MASKED.test(value)
    lines.push(`-H ${isHidden ? `"${name}: $${variableOf(name)}"` : quoted(`${name}: ${value}`)}`)
  }
  if (body !== null) lines.push(`--data-binary ${quoted(body)}`)
  return lines.join(' \\\n  ')
}

/** Nothing has a meaning between single quotes but the quote itself. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** `X-Api-Key` → `X_API_KEY`. */
function variableOf(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')
}
