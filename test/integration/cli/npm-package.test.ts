/** The package as npm packs it, installed into an empty folder in which nothing of this checkout is. */
import { execFile } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { programEnv, runCommand } from '../../support/servers/processes.ts'
import { until } from '../../support/until.ts'

const ROOT = join(import.meta.dirname, '../../..')
const PACK_MS_MAX = 60_000
const PING_MS_MAX = 20_000
const INSTALL_MS_MAX = 300_000
/** A verb and its `--wait`, on a busy machine. */
const VERB_MS_MAX = 90_000
/** Of the packed file, and of all that is installed with it. It takes about 1.5 MB and 39 MB, of which OpenTelemetry has 16. */
const PACKED_BYTES_MAX = 1_700_000
const INSTALLED_BYTES_MAX = 45_000_000

interface Ran {
  readonly out: string
  readonly err: string
  readonly code: number
}

let home = ''
/** The empty folder that it is installed into. */
let folder = ''
let packed = ''
let skipped: string | null = null

function run(
  command: string,
  args: readonly string[],
  given: { env?: NodeJS.ProcessEnv; timeout?: number } = {},
) {
  const { env = programEnv(), timeout = VERB_MS_MAX } = given
  return new Promise<Ran>((resolve) => {
    execFile(command, args, { cwd: folder, env, timeout }, (fault, out, err) =>
      resolve({ out, err, code: fault === null ? 0 : Number(fault.code ?? 1) }),
    )
  })
}

/** npm has its registry and its way there from the machine's own variables, which a test run adds to. */
function npm(args: readonly string[], timeout: number): Promise<Ran> {
  const foreign =
    /^(?:PUNCTUAL_|VITEST|MAKE|MFLAGS$|NODE_ENV$|NODE_OPTIONS$|NODE_COMPILE_CACHE$|TEST_WORKER|npm_)/
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)))
  return run('npm', args, { env, timeout })
}

async function npmDone(args: readonly string[], timeout: number): Promise<string> {
  const { code, out, err } = await npm(args, timeout)
  if (code !== 0) throw new Error(`npm ${args.join(' ')} ended with ${code}: ${err}`)
  return out
}

const punctual = (...args: readonly string[]) => run('node_modules/.bin/punctual', args)

beforeAll(
  async () => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'punctual-npm-')))
    folder = join(home, 'empty')
    mkdirSync(folder)
    if (!existsSync(join(ROOT, 'dist/main.js'))) {
      skipped = 'nothing is built: make build'
      return
    }
    const pack = ['pack', ROOT, '--ignore-scripts', '--silent', '--pack-destination', home]
    packed = join(home, (await npmDone(pack, PACK_MS_MAX)).trim())
    if ((await npm(['ping'], PING_MS_MAX)).code !== 0) {
      skipped = 'no npm registry can be reached'
      return
    }
    // Without a prefix, npm installs where it finds a package.json above the folder.
    const install = ['install', packed, '--prefix', folder, '--prefer-offline', '--ignore-scripts']
    await npmDone(install, INSTALL_MS_MAX)
  },
  PACK_MS_MAX + PING_MS_MAX + INSTALL_MS_MAX + 30_000,
)
afterAll(() => rmSync(home, { recursive: true, force: true }))

function bytesIn(path: string): number {
  return globSync('**/*', { cwd: path }).reduce((sum, name) => {
    const stat = statSync(join(path, name))
    return stat.isFile() ? sum + stat.size : sum
  }, 0)
}

test('it is small, and holds the program with what that reads', (context) => {
  if (skipped !== null) context.skip(skipped)
  expect(statSync(packed).size).toBeLessThan(PACKED_BYTES_MAX)
  expect(bytesIn(join(folder, 'node_modules'))).toBeLessThan(INSTALLED_BYTES_MAX)
  expect(existsSync(join(folder, 'node_modules/@kubernetes'))).toBe(false)
  const files = globSync('*', { cwd: join(folder, 'node_modules/punctual') }).toSorted()
  expect(files).toEqual(['LICENSE', 'README.md', 'dist', 'package.json'])
})

test('its program says its version', async (context) => {
  if (skipped !== null) context.skip(skipped)
  expect(await punctual('--version')).toEqual({ out: '0.1.0\n', err: '', code: 0 })
})

test('standalone calls a listener, and verbs in its folder find both', async (context) => {
  if (skipped !== null) context.skip(skipped)
  const command = (...words: readonly string[]) => [
    'env',
    '-C',
    folder,
    'node_modules/.bin/punctual',
    ...words,
  ]
  const listener = runCommand(command('listen', '--port', '0'), {})
  const standalone = runCommand(command('standalone'), {
    PUNCTUAL_PORT: '0',
    PUNCTUAL_OPS_PORT: '0',
    PUNCTUAL_EGRESS_ALLOW: '127.0.0.0/8',
  })
  try {
    await standalone.logged('Standalone runs')
    const url = await until('the listener has an address', () => {
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(listener.strayLines.join('\n')) ?? []
      return found ?? false
    })
    const ended = await punctual('push', 'hello', `${url}/hook`, '--payload', '{"a": 1}', '--wait', '60')
    expect(ended).toMatchObject({ err: '', code: 0 })
    const [, id = ''] = /^job (\d+) in queue/.exec(ended.out) ?? []
    expect((await punctual('job', id)).out).toContain('completed, success')
    expect(listener.strayLines.join('\n')).toContain('{"a": 1}')
  } finally {
    for (const program of [listener, standalone]) {
      program.signal('SIGTERM')
      await program.exited
    }
  }
}, 240_000)

test('without a Redis, standalone says both ways to get one', async (context) => {
  if (skipped !== null) context.skip(skipped)
  const onlyNode = join(home, 'only-node')
  mkdirSync(onlyNode)
  symlinkSync(process.execPath, join(onlyNode, 'node'))
  const env = { ...programEnv(), PATH: onlyNode, PUNCTUAL_PORT: '0', PUNCTUAL_OPS_PORT: '0' }
  const ran = await run(process.execPath, ['node_modules/punctual/dist/main.js', 'standalone'], { env })
  expect(ran.code).toBe(2)
  expect(ran.err).toMatch(
    /^punctual: Neither redis-server nor valkey-server is on PATH: install one \(.*\), or set PUNCTUAL_REDIS_URL/,
  )
})

test('an older Node is told what is needed', async (context) => {
  if (skipped !== null) context.skip(skipped)
  const older = `data:text/javascript,${encodeURIComponent(`
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '24.1.0' } })
    Object.defineProperty(process, 'version', { value: 'v24.1.0' })
  `)}`
  const ran = await run(process.execPath, [
    '--import',
    older,
    'node_modules/punctual/dist/main.js',
    '--version',
  ])
  expect(ran).toEqual({
    out: '',
    err: 'punctual: Node 26 or newer is needed, this is v24.1.0: install it from https://nodejs.org, or run the container image\n',
    code: 2,
  })
})
