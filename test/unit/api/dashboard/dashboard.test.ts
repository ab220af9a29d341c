import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import type { BuiltDashboard } from '../../../../src/api/dashboard/built-dashboard.ts'
import { encodingFor } from '../../../../src/api/encoding.ts'
import { pageOf } from '../../../../src/api/dashboard/page.ts'
import { BEARER, call, startApi, type RunningApi } from '../api-fixture.ts'

const HTML = '<!doctype html><html lang="en"><head><base href="/" /></head></html>'
const SCRIPT = {
  type: 'text/javascript',
  plain: Buffer.from('export {}'),
  encoded: { br: Buffer.from('br!') },
}
const BUILT: BuiltDashboard = { html: HTML, files: new Map([['/assets/index-1a2b.js', SCRIPT]]) }
const BROWSER = { accept: 'text/html,*/*' }

let api: RunningApi | null = null
afterEach(() => api?.close())

async function start(built: BuiltDashboard | null = BUILT, basePath = ''): Promise<number> {
  api = await startApi({
    basePath,
    dashboard: { built, basePath, loginAt: null, echoAt: () => 'http://127.0.0.1:1/echo' },
  })
  return api.port
}

async function get(port: number, path: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, redirect: 'manual' })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

describe('files and pages', () => {
  test('a hashed file is kept for ever, in the encoding that the client takes', async () => {
    const port = await start()
    const path = '/assets/index-1a2b.js'
    const plain = await get(port, path, { 'accept-encoding': 'identity' })
    expect([plain.status, plain.text]).toEqual([200, 'export {}'])
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(plain.headers.get('vary')).toBe('Accept-Encoding')
    expect(plain.headers.get('content-encoding')).toBeNull()
    // It was not compressed by gzip.
    expect((await get(port, path, { 'accept-encoding': 'gzip' })).text).toBe('export {}')
    const head = await get(port, path, { 'accept-encoding': 'br' }, 'HEAD')
    expect(head.headers.get('content-encoding')).toBe('br')
    expect(head.headers.get('content-length')).toBe('3')
    const again = await get(port, path, {
      'if-none-match': head.headers.get('etag') ?? '',
      'accept-encoding': 'br',
    })
    expect(again.status).toBe(304)
  })

  test('a browser gets the page at every path without an extension, and says whether it has a session', async () => {
    const port = await start()
    for (const path of ['/', '/jobs?state=dead', '/queues/7']) {
      const page = await get(port, path, BROWSER)
      expect(page.status).toBe(200)
      expect(page.text).toContain('data-session="none"')
      expect(page.text).toContain('data-echo-at="http://127.0.0.1:1/echo"')
      expect(page.headers.get('cache-control')).toBe('no-cache')
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    }
    const known = await get(port, '/', { ...BROWSER, cookie: `punctual-${port}=x.y` })
    expect(known.text).toContain('data-session="some"')
    const etag = known.headers.get('etag') ?? ''
    expect((await get(port, '/', { cookie: `punctual-${port}=x.y`, 'if-none-match': etag })).status).toBe(304)
    expect((await get(port, '/', { 'if-none-match': etag })).status).toBe(200)
  })

  test.each([
    ['none', true],
    ['cross-site', false],
    ['same-site', false],
    ['same-origin', false],
    [undefined, false],
  ])('a page that is opened as %s knows whether a person did it', async (site, isByHand) => {
    const port = await start()
    for (const cookie of ['', `punctual-${port}=x.y`]) {
      const headers = { ...BROWSER, cookie, ...(site !== undefined && { 'sec-fetch-site': site }) }
      const page = await get(port, '/', headers)
      expect(page.text.includes(' data-by-hand')).toBe(isByHand)
      expect(page.headers.get('vary')).toContain('Sec-Fetch-Site')
      // What a browser has kept of a page opened in the other way is not it.
      const other = await get(port, '/', { ...headers, 'sec-fetch-site': isByHand ? 'cross-site' : 'none' })
      expect(other.headers.get('etag')).not.toBe(page.headers.get('etag'))
    }
  })

  test('other clients get a 404 where a browser gets the page, and no path is guessed', async () => {
    const port = await start()
    expect((await get(port, '/jobs')).status).toBe(404)
    for (const path of ['/assets/absent.js', '/favicon.ico', '/../package.json', '/assets/..%2findex.html']) {
      expect((await get(port, path, BROWSER)).status).toBe(404)
    }
    const post = await get(port, '/', {}, 'POST')
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect((await get(port, '/jobs', {}, 'POST')).status).toBe(404)
  })

  test('without a build a page says how to make one', async () => {
    const port = await start(null)
    const page = await get(port, '/', BROWSER)
    expect(page.status).toBe(404)
    expect(page.text).toContain('make build')
  })
})

describe('below a base path', () => {
  test('requests that have it and requests that have lost it are answered alike', async () => {
    const port = await start(BUILT, '/punctual')
    for (const path of ['/punctual', '/punctual/', '/punctual?x=1', '/', '/punctual/queues']) {
      expect((await get(port, path, BROWSER)).text).toContain('<base href="/punctual/"')
    }
    expect((await get(port, '/punctual/assets/index-1a2b.js')).status).toBe(200)
    for (const path of ['/punctual/api/queues', '/api/queues']) {
      expect((await call(port, path, { headers: BEARER })).status).toBe(200)
    }
    // As clients of a forward proxy send it.
    for (const path of ['http://p.test/punctual/api/queues', 'http://p.test/api/queues']) {
      expect((await call(port, path, { headers: BEARER })).status).toBe(200)
    }
    expect((await get(port, '/punctuality/api/queues')).status).toBe(404)
  })
})

test('a page is compressed whole, and what it is told cannot leave its attribute', () => {
  const facts = { basePath: '/a', loginAt: '"><script>$&', echoAt: null, hasSession: false, isByHand: false }
  const { plain, encoded } = pageOf(HTML, facts)
  expect(plain.toString()).toContain('data-login-at="&quot;>&lt;script>$&amp;"')
  expect(brotliDecompressSync(encoded.br ?? '').equals(plain)).toBe(true)
  expect(gunzipSync(encoded.gzip ?? '').equals(plain)).toBe(true)
  expect(() => pageOf('<html>', facts)).toThrow('lacks')
})

test.each([
  ['gzip, deflate, br', 'br'],
  ['gzip;q=1.0, br;q=0', 'gzip'],
  ['*', 'br'],
  ['*;q=0', null],
  ['identity', null],
  ['', null],
])('of "%s" it takes %s', (header, encoding) => {
  expect(encodingFor(header)).toBe(encoding)
})
