import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type Server, type TlsOptions } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCaller, type TestCaller } from '../../support/targets/outbound-targets.ts'

interface Certificate {
  readonly key: string
  readonly cert: string
}

const folder = mkdtempSync(join(tmpdir(), 'punctual-tls-'))
const servers: Server[] = []
let caller: TestCaller
let authority: Certificate

function openssl(...given: string[]): void {
  execFileSync('openssl', given, { cwd: folder, stdio: 'ignore' })
}

function read(name: string): Certificate {
  return {
    key: readFileSync(join(folder, `${name}.key`), 'utf8'),
    cert: readFileSync(join(folder, `${name}.crt`), 'utf8'),
  }
}

function newKey(name: string): string[] {
  return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', `${name}.key`]
}

function selfSigned(name: string): Certificate {
  openssl('req', '-x509', ...newKey(name), '-out', `${name}.crt`, '-subj', `/CN=${name}`, '-days', '2')
  return read(name)
}

/** A certificate of our authority; times as OpenSSL reads them, `20200101000000Z`. */
function issued(name: string, altNames: string, [from, to]: readonly [string, string]): Certificate {
  const extensions = `subjectAltName=${altNames}`
  openssl('req', ...newKey(name), '-out', `${name}.csr`, '-subj', `/CN=${name}`, '-addext', extensions)
  openssl(
    'ca',
    '-batch',
    '-config',
    'ca.cnf',
    '-in',
    `${name}.csr`,
    '-out',
    `${name}.crt`,
    '-notext',
    '-startdate',
    from,
    '-enddate',
    to,
  )
  return read(name)
}

const CA_CONFIG = `[ca]
default_ca=own
[own]
database=index.txt
serial=serial
new_certs_dir=.
certificate=authority.crt
private_key=authority.key
default_md=sha256
policy=any
copy_extensions=copy
[any]
commonName=supplied
`
const NOW = ['20200101000000Z', '20490101000000Z'] as const

beforeAll(() => {
  authority = selfSigned('authority')
  writeFileSync(join(folder, 'ca.cnf'), CA_CONFIG)
  writeFileSync(join(folder, 'index.txt'), '')
  writeFileSync(join(folder, 'serial'), '01\n')
  caller = startCaller({
    authorities: [authority.cert],
    resolve: async () => ['127.0.0.1'],
    egressSettings: OPEN,
  })
})

const OPEN = {
  allow: ['127.0.0.0/8', 'target.example'],
  deny: [],
  allowable: null,
  clusterCidrs: [],
  ownHosts: [],
}

afterAll(async () => {
  await caller.close()
  for (const server of servers) server.close()
  rmSync(folder, { recursive: true })
})

async function tlsTarget(
  options: TlsOptions,
): Promise<{ port: number; names: Array<string | false | null> }> {
  const names: Array<string | false | null> = []
  const server = createServer(options, (socket) => {
    names.push(socket.servername)
    socket.on('error', () => {})
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
  })
  servers.push(server)
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, names }
}

describe('a certificate that holds', () => {
  test('is checked against the host name, which is sent as the server name', async () => {
    const { port, names } = await tlsTarget(issued('named', 'DNS:target.example', NOW))
    expect(await caller.call(`https://target.example:${port}/`)).toMatchObject({
      kind: 'answered',
      timings: { dnsMs: expect.any(Number), connectMs: expect.any(Number), tlsMs: expect.any(Number) },
    })
    expect(await caller.call(`https://target.example.:${port}/`)).toMatchObject({ kind: 'answered' })
    expect(names).toEqual(['target.example', 'target.example'])
  })

  test('is checked against a literal address, which is not sent', async () => {
    const { port, names } = await tlsTarget(issued('literal', 'IP:127.0.0.1', NOW))
    expect(await caller.call(`https://127.0.0.1:${port}/`)).toMatchObject({ kind: 'answered' })
    expect(await caller.call(`https://127.0.0.1:${port}/`)).toMatchObject({ timings: { tlsMs: null } })
    expect(names).toEqual([false])
  })
})

describe('a certificate that does not hold', () => {
  test.each<[string, () => Certificate, string]>([
    ['self-signed', () => selfSigned('alone'), 'The certificate is self-signed.'],
    [
      'expired',
      () => issued('old', 'DNS:target.example', ['20200101000000Z', '20200102000000Z']),
      'The certificate has expired.',
    ],
    [
      'not valid yet',
      () => issued('young', 'DNS:target.example', ['20480101000000Z', '20490101000000Z']),
      'The certificate is not valid yet.',
    ],
    [
      'for another name',
      () => issued('other', 'DNS:other.example', NOW),
      'The certificate is for another host name.',
    ],
  ])('%s', async (_name, make, message) => {
    const { port, names } = await tlsTarget(make())
    expect(await caller.call(`https://target.example:${port}/`)).toMatchObject({
      kind: 'failed',
      reason: 'ssl_error',
      message,
      timings: { tlsMs: expect.any(Number), firstByteMs: null },
    })
    expect(names.length).toBeLessThanOrEqual(1)
  })

  test('of an authority that is not trusted', async () => {
    const { port } = await tlsTarget(issued('stranger', 'IP:127.0.0.1', NOW))
    const plain = startCaller()
    expect(await plain.call(`https://127.0.0.1:${port}/`)).toMatchObject({
      reason: 'ssl_error',
      message:
        'The certificate is signed by an authority that is not trusted, or the target does not send its intermediate certificate.',
    })
    await plain.close()
  })
})

describe('no TLS to be had', () => {
  test('a version that is too old', async () => {
    const { port } = await tlsTarget({
      ...issued('ancient', 'IP:127.0.0.1', NOW),
      minVersion: 'TLSv1.1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    expect(await caller.call(`https://127.0.0.1:${port}/`)).toMatchObject({
      kind: 'failed',
      reason: 'ssl_error',
      message: 'The target offers no TLS newer than 1.1; calls need 1.2 or newer.',
    })
  })

  test.each([
    ['TLSv1.3', 'The target asks for a client certificate, which calls do not have.'],
    [
      'TLSv1.2',
      'The target refused the handshake: it may ask for a client certificate, or share no cipher with this program.',
    ],
  ] as const)('a client certificate that is wanted by %s', async (version, message) => {
    const { port } = await tlsTarget({
      ...issued(`wanting-${version}`, 'IP:127.0.0.1', NOW),
      minVersion: version,
      maxVersion: version,
      requestCert: true,
      ca: [authority.cert],
    })
    expect(await caller.call(`https://127.0.0.1:${port}/`)).toMatchObject({
      kind: 'failed',
      reason: 'ssl_error',
      message,
    })
  })

  test('a target that speaks HTTP', async () => {
    const server = createHttpServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect(await caller.call(`https://127.0.0.1:${port}/`)).toMatchObject({
      kind: 'failed',
      reason: 'ssl_error',
      message: 'The target does not speak TLS on this port.',
    })
    server.close()
  })

  test('a handshake that is cut', async () => {
    const server = createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect(await caller.call(`https://127.0.0.1:${port}/`)).toMatchObject({ reason: 'connection_error' })
    server.close()
  })

  test('many failures in a row leave no sockets behind', async () => {
    const { port } = await tlsTarget(selfSigned('again'))
    const few = startCaller({ socketsMax: 1 })
    for (let round = 0; round < 50; round += 1) {
      expect(await few.call(`https://127.0.0.1:${port}/`)).toMatchObject({ reason: 'ssl_error' })
    }
    await few.close()
  })
})
