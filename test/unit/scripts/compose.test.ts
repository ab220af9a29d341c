/** No engine runs here: the file is judged by what the program, the image and the chart say. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
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
