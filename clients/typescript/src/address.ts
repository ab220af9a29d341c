/** Fields of an input that stand elsewhere in a request. */
const ELSEWHERE = new Set(['body', 'idempotency_key'])

/**
 * Path and query of an operation.
 * @param path such as `/api/jobs/{job_id}`
 * @param given what the path does not name stands in the query, in order
 */
export function addressOf(path: string, given: Readonly<Record<string, unknown>>): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => pathPart(name, given[name]))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || ELSEWHERE.has(name) || path.includes(`{${name}}`)) continue
    search.set(name, textOf(value))
  }
  return search.size === 0 ? filled : `${filled}?${search.toString()}`
}

function pathPart(name: string, value: unknown): string {
  const text = textOf(value)
  // A URL drops such parts, and the request would go to another operation.
  if (text === '' || text === '.' || text === '..') {
    throw new TypeError(`${name} ${JSON.stringify(text)} is not an id.`)
  }
  return encodeURIComponent(text)
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : ''
}
