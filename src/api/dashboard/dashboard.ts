import { hash } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { CLOSE_CONNECTION, type Rejection, type RequestRejector } from '../request-rejector.ts'
import { sessionIdOf } from '../sessions/session-cookie.ts'
import type { BuiltDashboard, BuiltFile, Encoding } from './built-dashboard.ts'
import { encodingFor } from '../encoding.ts'
import { type PageFacts, pageOf } from './page.ts'

export interface DashboardParts extends Pick<PageFacts, 'basePath' | 'loginAt' | 'isForTests'> {
  /** Asked at the first request, when the port is known; absent = there is none. */
  echoAt?(): PageFacts['echoAt']
  /** null = there is no build. */
  readonly built: BuiltDashboard | null
}

/** A file with the headers of its answers; those of an encoding are added to them. */
interface Served {
  readonly file: BuiltFile
  readonly tag: string
  readonly headers: readonly string[]
}

/** Vite puts what it names after its content there: another content has another name. */
const HASHED = '/assets/'
const TAG_CHARACTERS = 16
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')
const SAFE_HEADERS = [
  ['Content-Security-Policy', POLICY],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Permissions-Policy', 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()'],
].flat()
const NOT_FOUND: Rejection = { status: 404, error: 'Not found' }
const ONLY_READ: Rejection = {
  status: 405,
  error: 'Method not allowed',
  headers: ['Allow', 'GET, HEAD'],
}
const NO_BUILD = `The dashboard is not built. Run "make build", or "npm run build", and start Punctual again.\n`

/**
 * Answers what is not the API's. Files come from memory, hashed ones for ever. A browser gets the page at every other path,
 * since the page knows its own; whatever else asks for such a path gets a 404.
 */
export function createDashboard(
  { built, echoAt, ...facts }: DashboardParts,
  rejector: RequestRejector,
): RequestListener {
  const files = new Map([...(built?.files ?? [])].map(([path, file]) => [path, servedFile(path, file)]))
  let made: ReturnType<typeof servedPages> | null = null
  const pagesOf = (html: string) => (made ??= servedPages(html, { ...facts, echoAt: echoAt?.() ?? null }))
  return (request, response) => {
    const path = pathOf(request)
    const served = files.get(path)
    if (served === undefined && !isForPage(request, path)) {
      rejector.rejectAndClose({ request, response }, NOT_FOUND)
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      rejector.rejectAndClose({ request, response }, ONLY_READ)
    } else if (served !== undefined) {
      send(request, response, served)
    } else if (built === null) {
      answerNoBuild(response)
    } else {
      const pages = pagesOf(built.html)
      send(request, response, pageFor(request, pages))
    }
  }
}

/** Chooses the page by `Sec-Fetch-Site`: unlike the referrer, another site can neither forge it nor leave it out. */
function pageFor(request: IncomingMessage, pages: ReturnType<typeof servedPages>): Served {
  const { byHand, otherwise } = sessionIdOf(request) === null ? pages.without : pages.withSession
  return request.headers['sec-fetch-site'] === 'none' ? byHand : otherwise
}

function pathOf({ url = '' }: IncomingMessage): string {
  const question = url.indexOf('?')
  return question === -1 ? url : url.slice(0, question)
}

/** No path of the page ends with the name of a file. */
function isForPage({ headers }: IncomingMessage, path: string): boolean {
  if (path === '/') return true
  return !/\.\w+$/.test(path) && (headers.accept ?? '').includes('text/html')
}

function servedFile(path: string, file: BuiltFile): Served {
  const cache = path.startsWith(HASHED) ? 'public, max-age=31536000, immutable' : 'public, max-age=3600'
  return { file, tag: tagOf(file), headers: headersOf(file, cache, 'Accept-Encoding') }
}

const PAGE_VARIES = 'Accept, Accept-Encoding, Cookie, Sec-Fetch-Site'

/** All four are made at the start, so that a request costs no more than one for a file. */
function servedPages(html: string, facts: Omit<PageFacts, 'hasSession' | 'isByHand'>) {
  const served = (request: Pick<PageFacts, 'hasSession' | 'isByHand'>): Served => {
    const file = pageOf(html, { ...facts, ...request })
    return { file, tag: tagOf(file), headers: headersOf(file, 'no-cache', PAGE_VARIES) }
  }
  const both = (hasSession: boolean) => ({
    byHand: served({ hasSession, isByHand: true }),
    otherwise: served({ hasSession, isByHand: false }),
  })
  return { withSession: both(true), without: both(false) }
}

function tagOf({ plain }: BuiltFile): string {
  return hash('sha256', plain, 'base64url').slice(0, TAG_CHARACTERS)
}

function headersOf({ type }: BuiltFile, cache: string, vary: string): readonly string[] {
  return ['Content-Type', type, 'Cache-Control', cache, 'Vary', vary, ...SAFE_HEADERS]
}

function send(request: IncomingMessage, response: ServerResponse, { file, tag, headers }: Served): void {
  const wanted = encodingFor(request.headers['accept-encoding'] ?? '')
  const encoding: Encoding | null = wanted !== null && file.encoded[wanted] !== undefined ? wanted : null
  const bytes = encoding === null ? file.plain : (file.encoded[encoding] ?? file.plain)
  const entityTag = `"${encoding === null ? tag : `${tag}-${encoding}`}"`
  const named = [...headers, 'ETag', entityTag, ...(encoding === null ? [] : ['Content-Encoding', encoding])]
  if ((request.headers['if-none-match'] ?? '').includes(entityTag)) {
    response.writeHead(304, named).end()
    return
  }
  response.writeHead(200, [...named, 'Content-Length', String(bytes.length)])
  response.end(request.method === 'HEAD' ? undefined : bytes)
}

function answerNoBuild(response: ServerResponse): void {
  const headers = ['Content-Type', 'text/plain; charset=utf-8', 'Cache-Control', 'no-store']
  const length = ['Content-Length', String(Buffer.byteLength(NO_BUILD))]
  response.writeHead(404, [...headers, ...length, ...SAFE_HEADERS, ...CLOSE_CONNECTION]).end(NO_BUILD)
}
