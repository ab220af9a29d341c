import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { StartupError } from '../../../../src/domain/errors.ts'
import type { ClusterConfig } from '../../../../src/kubernetes/client/cluster-config.ts'
import { loadKubeconfig } from '../../../../src/kubernetes/client/kubeconfig.ts'
import { inClusterConfig } from '../../../../src/kubernetes/client/in-cluster-config.ts'
import { createTransport } from '../../../../src/kubernetes/client/transport.ts'
import { selfSignedCertificate } from '../../../support/targets/certificates.ts'
import { startFakeApiServer, type FakeApiServer } from '../../../support/fake-api/fake-api-server.ts'
import { createFakeClock, type FakeClock } from '../../../support/fake-clock.ts'
import { quietClusterMetrics } from '../../../support/quiet.ts'

const READ = { method: 'GET', path: '/api/v1/namespaces/a/configmaps/one' } as const

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'punctual-kubeconfig-'))
})

afterEach(() => {
  rmSync(folder, { recursive: true })
})

function write(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

/** A kubeconfig of one cluster and one user. */
function kubeconfig(cluster: object, user: object = {}): string {
  return write(
    'config',
    JSON.stringify({
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  )
}

type Way = 'a kubeconfig' | 'a pod'

describe.each<Way>(['a kubeconfig', 'a pod'])('a token in a file, as %s has one', (way) => {
  let server: FakeApiServer
  let clock: FakeClock
  let config: () => ClusterConfig

  beforeEach(async () => {
    server = await startFakeApiServer()
    server.put(READ.path, { apiVersion: 'v1', kind: 'ConfigMap' })
    clock = createFakeClock()
    const [tokenFile, authority] = [write('token', 'token-1\n'), write('ca.crt', server.authority)]
    const { hostname: apiServerHost, port: apiServerPort } = new URL(server.url)
    const user = { 'auth-provider': { name: 'tokenFile', config: { tokenFile } } }
    const file = kubeconfig({ server: server.url, 'certificate-authority': authority }, user)
    config = () =>
      way === 'a kubeconfig'
        ? loadKubeconfig(file)
        : inClusterConfig({ apiServerHost, apiServerPort, accountFolder: folder }, clock)
    return () => server.close()
  })

  async function withTransport(run: (read: () => Promise<unknown>) => Promise<void>): Promise<void> {
    const options = {
      config: config(),
      clock,
      metrics: quietClusterMetrics,
      userAgent: 'punctual/test',
    }
    const transport = createTransport(options)
    await run(() => transport.request(READ))
    await transport.close()
  }

  test('trap: another one is shown as soon as the old one is refused', () =>
    withTransport(async (read) => {
      await read()
      write('token', 'token-2\n')
      server.tokens.clear()
      server.tokens.add('token-2')
      await read()
      const shown = server.requests.map(({ authorization }) => authorization)
      expect(shown).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2'])
    }))

  test('trap: another one is shown within a minute though the old one is taken', () =>
    withTransport(async (read) => {
      vi.useFakeTimers({ toFake: ['Date'] })
      try {
        await read()
        write('token', 'token-2')
        server.tokens.add('token-2')
        vi.advanceTimersByTime(61_000)
        await clock.advance(61_000)
        await read()
      } finally {
        vi.useRealTimers()
      }
      expect(server.requests.at(-1)?.authorization).toBe('Bearer token-2')
    }))

  test('trap: another authority in its file is trusted without a restart', () =>
    withTransport(async (read) => {
      await read()
      const next = selfSignedCertificate('another')
      server.changeCertificate(next)
      server.cutAll()
      await expect(read()).rejects.toMatchObject({ fault: 'unavailable' })
      write('ca.crt', next.cert)
      await read()
    }))

  test('a missing file is a fault of the request, and heals', () =>
    withTransport(async (read) => {
      await read()
      rmSync(join(folder, 'ca.crt'))
      await expect(read()).rejects.toMatchObject({
        fault: 'unavailable',
        message: expect.stringContaining('ca.crt') as string,
      })
      write('ca.crt', server.authority)
      await read()
    }))

  test('a kubeconfig that is missing when a token is refused is no fault', () =>
    withTransport(async (read) => {
      await read()
      rmSync(join(folder, 'config'))
      server.tokens.clear()
      await expect(read()).rejects.toMatchObject({ fault: 'unauthorized' })
    }))
})

describe('what a kubeconfig says', () => {
  test('a client certificate, a server name and a user and password', async () => {
    const pem = (text: string) => Buffer.from(text).toString('base64')
    const cluster = {
      server: 'https://10.0.0.1:6443/clusters/x/',
      'certificate-authority-data': pem('CA'),
      'tls-server-name': 'kubernetes',
    }
    const user = {
      'client-certificate-data': pem('CERT'),
      'client-key-data': pem('KEY'),
      username: 'ann',
      password: 'öffne',
    }
    const config = loadKubeconfig(kubeconfig(cluster, user))
    expect(config.server).toBe('https://10.0.0.1:6443/clusters/x')
    expect(await config.access()).toEqual({
      headers: { authorization: `Basic ${pem('ann:öffne')}` },
      tls: { ca: 'CA', cert: 'CERT', key: 'KEY', servername: 'kubernetes' },
    })
  })

  test('a server that is not to be verified', async () => {
    const config = loadKubeconfig(
      kubeconfig({ server: 'https://host', 'insecure-skip-tls-verify': true }, { token: 't' }),
    )
    expect(await config.access()).toEqual({
      headers: { authorization: 'Bearer t' },
      tls: { rejectUnauthorized: false },
    })
  })

  test.each([
    ['plain http', { server: 'http://host' }, 'must be https'],
    ['a proxy', { server: 'https://host', 'proxy-url': 'http://proxy' }, 'proxy-url is not supported'],
  ])('%s is refused at the start', (_what, cluster, message) => {
    const file = kubeconfig(cluster)
    expect(() => loadKubeconfig(file)).toThrow(StartupError)
    expect(() => loadKubeconfig(file)).toThrow(message)
  })

  test('a file that is none is refused at the start', () => {
    expect(() => loadKubeconfig(join(folder, 'missing'))).toThrow(StartupError)
    expect(() => loadKubeconfig(write('config', 'clusters: ['))).toThrow(StartupError)
    expect(() => loadKubeconfig(write('config', ''))).toThrow(StartupError)
  })

  test('nothing to be found is refused at the start', () => {
    vi.stubEnv('KUBECONFIG', '')
    vi.stubEnv('HOME', folder)
    try {
      expect(() => loadKubeconfig(null)).toThrow('No cluster is named')
    } finally {
      vi.unstubAllEnvs()
    }
  })
})

test('the API server of a pod may have an address of IPv6', () => {
  const place = { apiServerHost: 'fd00::1', apiServerPort: '443', accountFolder: folder }
  expect(inClusterConfig(place, createFakeClock()).server).toBe('https://[fd00::1]:443')
})
