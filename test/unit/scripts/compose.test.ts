/** No engine runs here: compose.yaml and the image with a Redis are judged by what the program and the chart say. */
import { execFile } from 'node:child_process'
import { constants, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { loadStandaloneSettings, unknownVariables } from '../../../src/settings/role-settings.ts'

interface Service {
  readonly image: string
  readonly command: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly volumes: readonly string[]
}

const ROOT = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const { services, volumes } = parse(read('compose.yaml')) as {
  readonly services: Readonly<Record<'punctual' | 'redis', Service>>
  readonly volumes: object
}

/** As compose fills in variables: `${NAME:-text}` and `${NAME-text}`. */
function filled(text: string, given: Readonly<Record<string, string>> = {}): string {
  return text.replaceAll(
    /\$\{(\w+):?-([^}]*)\}/g,
    (_, name: string, initial: string) => given[name] ?? initial,
  )
}

function settingsOf(given: Readonly<Record<string, string>> = {}) {
  const env = Object.entries(services.punctual.environment ?? {})
  return Object.fromEntries(env.map(([name, value]) => [name, filled(value, given)]))
}

test('every variable is a setting of standalone, with a value that it takes', () => {
  expect(unknownVariables(settingsOf())).toEqual([])
  expect(loadStandaloneSettings(settingsOf(), {})).toMatchObject({
    host: '*',
    port: 8080,
    redisUrl: 'redis://redis:6379',
    dataDir: '/data',
  })
})

test('the port is open to this machine alone, and is the one that the program names', () => {
  for (const given of [{}, { PUNCTUAL_PORT: '9000' }]) {
    const { port } = loadStandaloneSettings(settingsOf(given), {})
    expect(services.punctual.ports?.map((text) => filled(text, given))).toEqual([`127.0.0.1:${port}:${port}`])
  }
  expect(services.redis.ports).toBeUndefined()
})

test('what both keep lies on volumes, at a folder that the user of the image may write', () => {
  expect(services.punctual.volumes).toEqual(['punctual:/data'])
  expect(services.redis.volumes).toEqual(['redis:/data'])
  expect(Object.keys(volumes).toSorted()).toEqual(['punctual', 'redis'])
  expect(read('Dockerfile')).toMatch(
    /^RUN mkdir \/data && chown 65532:65532 \/data\n(?:.*\n)*?USER 65532:65532$/m,
  )
})

test('Redis keeps a file and evicts nothing, and is the one that the chart brings', () => {
  expect(services.redis.command.join(' ')).toMatch(/--appendonly yes .*--maxmemory-policy noeviction/)
  const { redis } = parse(read('charts/punctual/values.yaml')) as {
    readonly redis: { readonly bundled: { readonly image: { readonly tag: string } } }
  }
  expect(services.redis.image).toBe(`redis:${redis.bundled.image.tag}`)
})

test('the image has the version of the program', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string }
  expect(services.punctual.image).toBe(`punctual:${version}`)
})

/** Instructions of the target `standalone`, one a line. */
function standaloneTarget(): string {
  const [, text = ''] = /^FROM punctual AS standalone\n(.*?)^FROM /ms.exec(read('Dockerfile')) ?? []
  return text.replaceAll(/\\\n\s*/g, '')
}

test('the image with a Redis has settings that standalone takes, and opens no more to jobs than compose does', () => {
  const [, words = ''] = /^ENV (.*)$/m.exec(standaloneTarget()) ?? []
  const env = Object.fromEntries(words.split(' ').map((word) => word.split('=') as [string, string]))
  expect(unknownVariables(env)).toEqual([])
  expect(loadStandaloneSettings(env, {})).toMatchObject({
    host: '*',
    port: 8080,
    redisUrl: null,
    dataDir: '/data',
    logFormat: 'text',
  })
  expect(env['PUNCTUAL_EGRESS_ALLOW']).toBe(settingsOf()['PUNCTUAL_EGRESS_ALLOW'])
})

test('the image with a Redis runs as the user of the other one, and keeps its data on a volume', () => {
  const target = standaloneTarget()
  expect([...target.matchAll(/^USER (.*)$/gm)].map(([, user]) => user)).toEqual(['root', '65532:65532'])
  expect(target).toMatch(/^VOLUME \/data$/m)
  expect(target).toMatch(/^CMD \["standalone"\]$/m)
})

test.each(['README.md', 'docs/how-to/run-on-one-machine.md'])(
  '%s names the image of this version',
  (page) => {
    const { version } = JSON.parse(read('package.json')) as { version: string }
    const tags = [...read(page).matchAll(/\bpunctual:(\d\S*)-standalone/g)].map(([, tag]) => tag)
    expect(new Set(tags)).toEqual(new Set([version]))
  },
)

test.each([
  [200, 0],
  [503, 1],
])('the health check of both, asked of a program that answers %i, ends with %i', async (status, code) => {
  const path = join(ROOT, 'scripts/image-ready.sh')
  expect(statSync(path).mode & constants.S_IXOTH).not.toBe(0)
  expect(parse(read('compose.yaml'))).toMatchObject({
    services: { punctual: { healthcheck: { test: ['CMD', 'punctual-ready'] } } },
  })
  expect(standaloneTarget()).toMatch(/^HEALTHCHECK .*CMD \["punctual-ready"\]$/m)
  const asked: unknown[] = []
  const server = createServer(({ url }, response) => {
    asked.push(url)
    response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const env = { ...process.env, PUNCTUAL_OPS_PORT: String((server.address() as AddressInfo).port) }
  const ended = await promisify(execFile)('sh', [path], { env }).then(
    () => 0,
    (fault: unknown) => (fault as { readonly code: number }).code,
  )
  server.close()
  expect(ended).toBe(code)
  expect(asked).toEqual(['/readyz'])
})

test('the health check of a container where nothing listens fails', async () => {
  const env = { ...process.env, PUNCTUAL_OPS_PORT: '1' }
  await expect(
    promisify(execFile)('sh', [join(ROOT, 'scripts/image-ready.sh')], { env }),
  ).rejects.toMatchObject({ code: 1 })
})
