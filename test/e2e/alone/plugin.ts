/** `kubectl punctual` as a person has it: the program of this checkout as a plugin of the kubectl on PATH. */
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { RELEASE_NAMESPACE, type KindCluster } from '../../support/cluster/kind-cluster.ts'
import { until } from '../../support/until.ts'
import { openOnlyRelease } from '../support/open-release.ts'

const ROOT = join(import.meta.dirname, '../../..')
const COMMAND_TIMEOUT_MS = 120_000
/** Another for each run: a cluster may be used again. */
const QUEUE = `of-the-plugin-${Date.now()}`

let cluster: KindCluster
let folder = ''

/** A kubectl without a token of Punctual, and with the Node of this checkout for the plugin. */
function surroundings(): NodeJS.ProcessEnv {
  const { PUNCTUAL_TOKEN: _token, PUNCTUAL_SERVER: _server, PATH, ...others } = process.env
  return {
    ...others,
    KUBECONFIG: cluster.kubeconfig,
    PATH: `${folder}:${join(ROOT, 'node_modules/.bin')}:${PATH}`,
  }
}

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

function plugin(...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const limits = { timeout: COMMAND_TIMEOUT_MS, killSignal: 'SIGKILL' } as const
    execFile('kubectl', ['punctual', ...args], { env: surroundings(), ...limits }, (fault, out, err) =>
      resolve({ code: Number(fault?.code ?? 0), out, err }),
    )
  })
}

const TOKEN = ['-n', RELEASE_NAMESPACE, '--token-secret', 'punctual-token/token'] as const
/** Programs that a process has started. */
const childrenOf = (pid: number) =>
  spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' }).stdout.trim()
const isAlive = (pid: string) => spawnSync('kill', ['-0', pid]).status === 0

export function kubectlPlugin(): void {
  beforeAll(async () => {
    cluster = await openOnlyRelease(inject('kindAccess').alone)
    folder = mkdtempSync(join(tmpdir(), 'punctual-plugin-'))
    symlinkSync(join(ROOT, 'dist/main.js'), join(folder, 'kubectl-punctual'))
  })

  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await cluster.close()
  })

  test('it finds the API, pushes a job through a forward of its own, and shows it', async () => {
    const url = cluster.target.url(QUEUE)
    const pushed = await plugin('push', QUEUE, url, '--wait', '60', '-o', 'name', ...TOKEN)
    expect(pushed).toMatchObject({ code: 0, err: '' })
    const [job = ''] = pushed.out.split('\n')
    expect(job).toMatch(/^job\/\d+$/)
    expect((await cluster.target.report(QUEUE)).arrivals).toBe(1)

    expect(await plugin('jobs', '--queue', QUEUE, '-o', 'name', ...TOKEN)).toEqual({
      code: 0,
      out: `${job}\n`,
      err: '',
    })
    expect((await plugin('queues', ...TOKEN)).out).toMatch(new RegExp(`^\\d+ +${QUEUE} +active `, 'm'))
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('a watch that %s ends leaves no forward', async (signal) => {
    const watch = ['queues', 'show', QUEUE, '--watch=1', ...TOKEN]
    const child = spawn('kubectl', ['punctual', ...watch], { env: surroundings() })
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    const ended = once(child, 'exit')
    await until('the queue is shown', () => out.includes(`${QUEUE}  (active)`), COMMAND_TIMEOUT_MS)
    const forwards = childrenOf(Number(child.pid)).split('\n')
    expect(forwards).toHaveLength(1)

    expect(await plugin('queues', 'pause', QUEUE, ...TOKEN)).toMatchObject({ code: 0 })
    await until('the pause is shown', () => out.includes(`${QUEUE}  (paused)`), COMMAND_TIMEOUT_MS)
    expect(await plugin('queues', 'resume', QUEUE, ...TOKEN)).toMatchObject({ code: 0 })

    child.kill(signal)
    expect(await ended).toEqual([null, signal])
    await until('the forward is gone', () => forwards.every((pid) => !isAlive(pid)))
  })

  test.each([
    ['a context that is not there', ['--context', 'nowhere', ...TOKEN], 1, /nowhere/],
    [
      'a Secret that is not there',
      ['-n', RELEASE_NAMESPACE, '--token-secret', 'none'],
      1,
      /"none" not found/,
    ],
    ['a namespace without Punctual', [...TOKEN, '--system-namespace', 'targets'], 3, /--system-namespace/],
    ['a user without a bearer token', ['-n', RELEASE_NAMESPACE], 2, /--token-secret/],
    [
      'a token that is not one',
      ['-n', RELEASE_NAMESPACE, '--token', 'wrong'],
      4,
      /Invalid authorization token/,
    ],
  ] as const)('%s is told in one line', async (_what, flags, code, says) => {
    const ran = await plugin('queues', ...flags)
    expect(ran).toMatchObject({ code, out: '' })
    expect(ran.err).toMatch(/^punctual: [^\n]+\n$/)
    expect(ran.err).toMatch(says)
  })
}
