import { expect, test } from 'vitest'
import {
  COLLECTION,
  NATIVE,
  OUTER_PLACES,
  PARSING,
  placeOf,
  SOCKET_WRITES,
} from '../../../bench/profiling/places.ts'

const ROOT = 'file:///srv/punctual'
const place = (url: string, functionName = 'f'): string => placeOf({ functionName, url }, 'the caller')

test('our code is told by folder, whichever way V8 writes the path', () => {
  expect(place(`${ROOT}/dist/src/redis/enqueue/job-intake.js`)).toBe('src/redis')
  expect(place('/srv/punctual/dist/src/outbound/http-caller.js')).toBe('src/outbound')
  expect(place(`${ROOT}/dist/src/main.js`)).toBe('src/main')
})

test('packages are told by name, also those of a package', () => {
  expect(place('/x/node_modules/undici/lib/dispatcher/client-h1.js')).toBe('`undici`')
  expect(place('/x/node_modules/ioredis/built/Command.js')).toBe('`ioredis`')
  expect(place('/x/node_modules/@ioredis/commands/built/index.js')).toBe('`ioredis`')
  expect(place('/x/node_modules/ioredis/node_modules/debug/index.js')).toBe('other packages')
})

test('Node is told by what it does there', () => {
  expect(place('node:_http_common')).toBe(PARSING)
  expect(place('wasm://wasm/00034eea')).toBe(PARSING)
  expect(place('node:_http_outgoing')).toBe('rest of `node:http`')
  for (const url of ['node:net', 'node:events', 'node:internal/stream_base_commons']) {
    expect(place(url)).toBe('sockets, streams and events of Node')
  }
  expect(place('node:internal/streams/readable')).toBe('sockets, streams and events of Node')
  expect(place('node:internal/timers')).toBe('rest of Node')
})

test("native code and Node's libraries belong to who calls them", () => {
  expect(place('', 'oneShotDigest')).toBe('the caller')
  for (const url of ['node:internal/crypto/hash', 'node:buffer', 'node:internal/url', 'node:zlib']) {
    expect(place(url)).toBe('the caller')
  }
})

test('writes, collections and what runs outside of functions are places of their own', () => {
  for (const name of ['writev', 'writeBuffer', 'writeUtf8String', 'writeLatin1String']) {
    expect(place('', name)).toBe(SOCKET_WRITES)
  }
  expect(place('', 'utf8Write')).toBe('the caller')
  expect(place(`${ROOT}/dist/src/api/answer.js`, 'writev')).toBe('src/api')
  expect(place('', '(garbage collector)')).toBe(COLLECTION)
  expect(place('', '(program)')).toBe(NATIVE)
  expect(place('', '(V8 API)')).toBe(NATIVE)
})

test('the page has a row for every place that is not ours', () => {
  const urls = ['node:net', 'node:_http_server', 'node:_http_common', 'node:timers', 'wasm://x']
  const packages = ['undici', 'ioredis', 'pino'].map((name) => `/x/node_modules/${name}/index.js`)
  const natives = ['(program)', '(garbage collector)', 'writev'].map((name) => place('', name))
  for (const found of [...natives, ...[...urls, ...packages].map((url) => place(url))]) {
    expect(OUTER_PLACES).toContain(found)
  }
})
