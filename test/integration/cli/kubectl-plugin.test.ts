/** The program called as a plugin of kubectl. A kubectl of its own notes how it is called and forwards to a known port. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { identityOf } from '../../../src/standalone/process-identity.ts'
import { programCommand, programEnv } from '../../support/servers/processes.ts'
import { until } from '../../support/until.ts'

const [node = '', main = ''] = programCommand()

let server: Server
let folder = ''
let received: IncomingHttpHeaders[] = []

/** Answers by the first words of its arguments; a forward stays until it is killed. */
const KUBECTL = `#!/bin/sh
echo "$*" >> "$0.calls"
case "$*" in
  config*) cat "$0.config" ;;
  *services*) cat "$0.services" ;;
  *secret*) [ "$3" = mine ] && echo '{"data": {"token": "'$(printf from-secret | base64)'"}}' || { echo 'not found' >&2; exit 1; } ;;
  port-forward*) [ -e "$0.refused" ] && { echo 'error: pods is forbidden' >&2; exit 1; }
    echo $$ > "$0.pid"; echo "Forwarding from 127.0.0.1:$(cat "$0.port") -> 8080"; exec sleep 600 ;;
esac
`
const service = (namespace: string) => ({
  metadata: { name: 'punctual-api', namespace },
  spec: { ports: [{ name: 'http', port: 80 }] },
})
const beside = (name: string) => join(folder, `kubectl.${name}`)
const write = (name: string, value: unknown) => writeFileSync(beside(name), JSON.stringify(value))
const calls = () => readFileSync(beside('calls'), 'utf8').trim().split('\n')

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'punctual-plugin-'))
  server = createServer((request, response) => {
    received.push(request.headers)
    response.end(JSON.stringify({ unread: 0, by_type: {} }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  writeFileSync(join(folder, 'kubectl'), KUBECTL)
  chmodSync(join(folder, 'kubectl'), 0o755)
  symlinkSync(main, join(folder, 'kubectl-punctual.ts'))
})
beforeEach(() => {
  received = []
  for (const name of ['calls', 'refused', 'pid']) rmSync(beside(name), { force: true })
  write('port', (server.address() as AddressInfo).port)
  write('services', { items: [service('punctual')] })
  write('config', kubeconfig({ token: 'of-the-user' }))
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

const kubeconfig = (user: object, namespace?: string) => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'here',
  contexts: [
    { name: 'here', context: { cluster: 'c', user: 'u', ...(namespace !== undefined && { namespace }) } },
  ],
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443' } }],
  users: [{ name: 'u', user }],
})

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

function plugin(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(
      node,
      [join(folder, 'kubectl-punctual.ts'), ...args],
      { env: { ...programEnv(), PATH: `${folder}:${process.env['PATH']}`, ...env } },
      (fault, out, err) => resolve({ code: Number(fault?.code ?? 0), out, err }),
    )
  })
}

const COUNTS = ['alerts', 'counts']

test('it asks as the user of the kubeconfig, for the team of the context, and leaves no forward', async () => {
  write('config', kubeconfig({ token: 'of-the-user' }, 'shop'))
  expect(await plugin(COUNTS)).toEqual({ code: 0, out: '0 unread\n', err: '' })
  expect(received[0]).toMatchObject({ authorization: 'Bearer of-the-user', 'x-punctual-team': 'shop' })
  expect(calls()).toEqual([
    'config view --minify --raw --flatten --output=json',
    'get services --all-namespaces --selector=app.kubernetes.io/name=punctual,app.kubernetes.io/component=api --output=json',
    'port-forward service/punctual-api :80 --address=127.0.0.1 --namespace=punctual',
  ])
  expect(identityOf(Number(readFileSync(beside('pid'), 'utf8')))).toBe(null)
})

test('it passes on which cluster, as whom and for whom', async () => {
  const where = ['-n', 'mail', '--context', 'far', '--kubeconfig', '/some/file', '--system-namespace', 'ops']
  expect(await plugin([...COUNTS, ...where])).toMatchObject({ code: 0 })
  expect(received[0]).toMatchObject({ 'x-punctual-team': 'mail' })
  for (const call of calls()) expect(call).toContain(' --kubeconfig=/some/file --context=far')
  expect(calls()[1]).toContain('get services --namespace=ops ')
})

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a watch that %s ends leaves no forward',
  async (signal) => {
    const child = spawn(node, [join(folder, 'kubectl-punctual.ts'), ...COUNTS, '--watch'], {
      env: { ...programEnv(), PATH: `${folder}:${process.env['PATH']}` },
    })
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    const ended = once(child, 'exit')
    await until('the first look', () => out === '0 unread\n')
    const forward = Number(readFileSync(beside('pid'), 'utf8'))
    expect(identityOf(forward)).not.toBe(null)
    child.kill(signal)
    expect(await ended).toEqual([null, signal])
    await until('the forward is gone', () => identityOf(forward) === null)
  },
)

test('a user may log in by a program of the kubeconfig', async () => {
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: 'fresh' },
  }
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'echo',
    args: [JSON.stringify(credential)],
    interactiveMode: 'Never',
  }
  write('config', kubeconfig({ exec }))
  expect(await plugin(COUNTS)).toMatchObject({ code: 0 })
  expect(received[0]).toMatchObject({ authorization: 'Bearer fresh', 'x-punctual-team': 'default' })
})

test('a token of our own needs no user, and names its team itself', async () => {
  write('config', kubeconfig({ 'client-certificate-data': 'YQ==', 'client-key-data': 'YQ==' }, 'shop'))
  expect(await plugin(COUNTS)).toEqual({
    code: 2,
    out: '',
    err: 'punctual: this kubeconfig logs in without a bearer token: give --token-secret, --token or PUNCTUAL_TOKEN\n',
  })
  await plugin([...COUNTS, '--token-secret', 'mine'])
  await plugin(COUNTS, { PUNCTUAL_TOKEN: 'of-the-variable' })
  expect(received.map(({ authorization }) => authorization)).toEqual([
    'Bearer from-secret',
    'Bearer of-the-variable',
  ])
  for (const headers of received) expect(headers).not.toHaveProperty('x-punctual-team')
})

test.each([
  ['no installation', () => write('services', { items: [] }), 3, 'no service of Punctual'],
  ['two installations', () => write('services', { items: [service('a'), service('b')] }), 2, '(a, b)'],
  [
    'a forward that is refused',
    () => write('refused', true),
    5,
    'kubectl port-forward: error: pods is forbidden',
  ],
])('%s is told in one line', async (_what, prepare, code, says) => {
  prepare()
  const ran = await plugin(COUNTS)
  expect(ran).toMatchObject({ code, out: '' })
  expect(ran.err).toMatch(/^punctual: [^\n]+\n$/)
  expect(ran.err).toContain(says)
})

test('without kubectl, or without the Secret, it says so', async () => {
  expect(await plugin([...COUNTS, '--token-secret', 'other'])).toMatchObject({
    code: 1,
    err: 'punctual: kubectl get secret: not found\n',
  })
  expect(await plugin(COUNTS, { PATH: '/nowhere' })).toMatchObject({
    code: 2,
    err: expect.stringContaining('must be on PATH') as string,
  })
})

test('an address that is given is used, for the team that is named, and the cluster is left alone', async () => {
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const given = [...COUNTS, '--server', address, '--token', 'mine']
  expect(await plugin(given)).toMatchObject({ code: 0 })
  expect(await plugin([...given, '-n', 'shop'])).toMatchObject({ code: 0 })
  expect(received.map((headers) => headers['x-punctual-team'])).toEqual([undefined, 'shop'])
  expect(() => calls()).toThrow('ENOENT')
})
