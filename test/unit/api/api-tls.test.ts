import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestListener, ServerResponse } from 'node:http'
import { createServer as createTlsServer, request } from 'node:https'
import { connect as connectPlain, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, TLSSocket } from 'node:tls'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { ApiServer } from '../../../src/api/api-server.ts'
import { CertificateFiles } from '../../../src/api/certificate-files.ts'
import { clientErrorHandler } from '../../../src/api/connections/client-errors.ts'
import { ConnectionLimiter } from '../../../src/api/connections/connection-limiter.ts'
import { StartupError } from '../../../src/domain/errors.ts'
import type { Logger } from '../../../src/ports/runtime.ts'
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts'
import { quietLogger } from '../../support/quiet.ts'
import { until } from '../../support/until.ts'
import { selfSignedCertificate } from '../../support/targets/certificates.ts'

const folder = mkdtempSync(join(tmpdir(), 'punctual-api-tls-'))
const certFile = join(folder, 'tls.crt')
const keyFile = join(folder, 'tls.key')
const [first, second] = [selfSignedCertificate('first'), selfSignedCertificate('second')]
const LOOK_MS = 10_000

let clock: FakeClock
let lines: [string, unknown][]
const logger: Logger = {
  ...quietLogger,
  info: (message, fields) => lines.push([message, fields]),
  warn: (message, fields) => lines.push([message, fields]),
}

beforeEach(() => {
  clock = createFakeClock()
  lines = []
  put(first)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function put({ cert, key }: { cert: string; key: string }): void {
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key)
}

async function serve(
  listener: RequestListener = (_, response) => response.end('here'),
  connectionsMax = 100,
) {
  const files = new CertificateFiles({ certFile, keyFile, clock, logger })
  const server = new ApiServer({ listener, clock, logger, connectionsMax, certificate: files.read() })
  files.follow((certificate) => server.useCertificate(certificate))
  const { port } = await server.listen(0, '127.0.0.1')
  return {
    port,
    stop: (graceMs = 0) => {
      files.stop()
      return server.close(graceMs)
    },
  }
}

/** Who the server says it is. */
function nameAt(port: number, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({ port, host: '127.0.0.1', ca }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN))
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

test('it speaks HTTPS, and gives new connections a new certificate while old ones go on', async () => {
  const { port, stop } = await serve()
  const old: TLSSocket = connect({ port, host: '127.0.0.1', ca: first.cert })
  await new Promise((resolve) => old.once('secureConnect', resolve))
  put(second)
  await clock.advance(LOOK_MS)
  expect(await nameAt(port, second.cert)).toBe('second')
  await expect(nameAt(port, first.cert)).rejects.toThrow('self-signed certificate')
  expect(lines).toEqual([['The certificate was replaced', { validTo: expect.any(String) }]])
  const answer = new Promise<string>((resolve) =>
    old.once('data', (text: Buffer) => resolve(text.toString())),
  )
  old.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  expect(await answer).toMatch(/^HTTP\/1\.1 200 /)
  old.destroy()
  await clock.advance(LOOK_MS)
  expect(lines).toHaveLength(1)
  await stop()
})

test('browsers are told to come by HTTPS alone, but not at their own machine, whose other ports are not ours', async () => {
  const { port, stop } = await serve()
  const transportAt = (host: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const options = { port, host: '127.0.0.1', ca: first.cert, servername: 'localhost', headers: { host } }
      request(options, (response) => {
        response.resume()
        resolve(response.headers['strict-transport-security'])
      })
        .once('error', reject)
        .end()
    })
  expect(await transportAt('punctual.example.com')).toBe('max-age=31536000')
  expect(await transportAt(`localhost:${port}`)).toBeUndefined()
  await stop()
})

test('one that does not fit its key is not taken, and is said once', async () => {
  const { port, stop } = await serve()
  writeFileSync(keyFile, second.key)
  await clock.advance(LOOK_MS)
  await clock.advance(LOOK_MS)
  expect(await nameAt(port, first.cert)).toBe('first')
  const reason = expect.stringContaining(
    'PUNCTUAL_TLS_CERT and PUNCTUAL_TLS_KEY are not a certificate and its key',
  )
  expect(lines).toEqual([['The new certificate cannot be used; the old one stays', { reason }]])
  put(second)
  await clock.advance(LOOK_MS)
  expect(await nameAt(port, second.cert)).toBe('second')
  await stop()
})

async function openTls(port: number): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', ca: first.cert })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  return socket
}

test('a crowded server closes idle connections, and none that waits for its answer', async () => {
  let waiting: ServerResponse | undefined
  const { port, stop } = await serve((_, response) => (waiting = response), 4)
  const busy = await openTls(port)
  busy.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await until('the request is there', () => waiting !== undefined)
  const idle = await Promise.all([openTls(port), openTls(port), openTls(port)])
  const ended = Promise.all(idle.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
  const answered = new Promise<string>((resolve) =>
    busy.once('data', (text: Buffer) => resolve(text.toString())),
  )
  await clock.advance(7_000)
  await ended
  waiting?.end('still here')
  expect(await answered).toContain('still here')
  busy.destroy()
  await stop()
})

test('a request without encryption gets no answer, and harms nobody', async () => {
  const { port, stop } = await serve()
  const plain = connectPlain(port, '127.0.0.1')
  let received = ''
  plain.on('data', (text) => (received += text.toString('latin1')))
  plain.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await new Promise((resolve) => plain.once('close', resolve))
  expect(received).not.toContain('HTTP/1.1')
  const body = await new Promise<string>((resolve, reject) => {
    request({ port, host: '127.0.0.1', ca: first.cert }, (response) => {
      response.once('data', (text: Buffer) => resolve(text.toString()))
    })
      .once('error', reject)
      .end()
  })
  expect(body).toBe('here')
  await stop()
})

/** A connection that never comes to a TLS handshake. */
async function openSilent(port: number) {
  const socket = connectPlain({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => undefined)
  socket.resume()
  await once(socket, 'connect')
  return socket
}

test('connections before the handshake end with the grace', async () => {
  const { stop, port } = await serve()
  const silent = await Promise.all([openSilent(port), openSilent(port)])
  // The server accepts in order: these are there before.
  await nameAt(port, first.cert)
  const ended = Promise.all(silent.map((socket) => once(socket, 'close')))
  let isStopped = false
  const stopped = stop(1_000).then(() => (isStopped = true))
  await clock.advance(999)
  expect(isStopped).toBe(false)
  await clock.advance(1)
  await stopped
  for (const socket of silent) socket.end()
  await ended
})

test('connections that never come to a handshake keep nobody out', async () => {
  const { stop, port } = await serve(undefined, 3)
  const silent = await Promise.all([openSilent(port), openSilent(port), openSilent(port)])
  const ended = silent.map((socket) => once(socket, 'end'))
  for (const end of ended) {
    const held = await openTls(port)
    await end
    held.destroy()
    await once(held, 'close')
    silent.push(await openSilent(port))
  }
  expect(await nameAt(port, first.cert)).toBe('first')
  for (const socket of silent) socket.destroy()
  await stop()
})

test('a handshake that failed is not answered, for nobody could read it', () => {
  const connections = new ConnectionLimiter(createTlsServer(), { max: 3, clock, logger })
  // As Node hands it over: never one of the server's connections.
  const socket = new TLSSocket(new Socket())
  const fault = Object.assign(new Error('TLS handshake timeout'), { code: 'ERR_TLS_HANDSHAKE_TIMEOUT' })
  clientErrorHandler(connections, clock)(fault, socket)
  expect({ destroyed: socket.destroyed, timers: clock.timers }).toEqual({ destroyed: true, timers: 0 })
})

test('files that are missing or no pair end the start, by name', () => {
  const read = (cert: string, key: string) =>
    new CertificateFiles({ certFile: cert, keyFile: key, clock, logger }).read()
  expect(() => read(join(folder, 'none'), keyFile)).toThrow(/^PUNCTUAL_TLS_CERT cannot be read: /)
  expect(() => read(certFile, join(folder, 'none'))).toThrow(/^PUNCTUAL_TLS_KEY cannot be read: /)
  writeFileSync(keyFile, second.key)
  expect(() => read(certFile, keyFile)).toThrow(StartupError)
})
