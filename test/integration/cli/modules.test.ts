/** What the program loads before it does anything: time is not steady enough to be tested, the number of modules is. */
import { execFileSync, spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { programCommand, programEnv } from '../../support/servers/processes.ts'

/** Prints the address of each module at the end. */
const LISTING = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module'
const urls = []
registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
process.on('exit', () => process.stderr.write(urls.map((url) => 'module ' + url + '\\n').join('')))
`)}`

interface Loaded {
  /** How many, those of Node itself apart. */
  readonly count: number
  /** Such as `redis`. */
  readonly folders: readonly string[]
  readonly packages: readonly string[]
}

function loadedBy(...args: readonly string[]): Loaded {
  const [node = '', main = ''] = programCommand()
  const { stderr } = spawnSync(node, ['--import', LISTING, main, ...args], {
    env: { ...programEnv(), PUNCTUAL_TOKEN: 'secret', PUNCTUAL_SERVER: 'http://127.0.0.1:9' },
    encoding: 'utf8',
  })
  const urls = [...stderr.matchAll(/^module (file:\S+)$/gm)].map(([, url = '']) => url)
  const named = (pattern: RegExp) =>
    [...new Set(urls.flatMap((url) => pattern.exec(url)?.[1] ?? []))].toSorted()
  return {
    count: urls.length,
    folders: named(/\/src\/([a-z-]+)\/(?!.*node_modules)/),
    packages: named(/\/node_modules\/((?:@[^/]+\/)?[^/]+)/),
  }
}

test('the version takes no verb and no role', () => {
  const { count, folders, packages } = loadedBy('--version')
  expect(folders).toEqual(['domain', 'roles', 'settings'])
  expect(packages).toEqual(['commander'])
  expect(count).toBeLessThanOrEqual(70)
})

test.each(['jobs list --help', 'push --help', '--help', 'jobs', 'completion bash'])(
  '%s takes the client verbs, and nothing of a server',
  (line) => {
    const { count, folders, packages } = loadedBy(...line.split(' '))
    expect(folders).toEqual(['cli', 'contract', 'domain', 'generated', 'roles', 'settings'])
    expect(packages).toEqual(['commander'])
    expect(count).toBeLessThanOrEqual(180)
  },
)

test.each(['api', 'controller', 'doctor', 'executor', 'standalone'])(
  'the help of %s takes no role',
  (role) => {
    const { count, folders, packages } = loadedBy(role, '--help')
    expect(folders).toEqual(['domain', 'roles', 'settings'])
    expect(packages).toEqual(['commander'])
    expect(count).toBeLessThanOrEqual(70)
  },
)

test('the package that YAML needs is loaded when YAML is printed, and there', () => {
  const [node = '', main = ''] = programCommand()
  const args = 'plan --jobs-per-second 10 --queues 5 --call-ms 50 -o yaml'.split(' ')
  expect(execFileSync(node, [main, ...args], { env: programEnv(), encoding: 'utf8' })).toMatch(/^\w+:/m)
  expect(loadedBy(...args).packages).toEqual(['commander', 'yaml'])
})
