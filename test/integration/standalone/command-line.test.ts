/** The command line as real processes, among the tools of a shell. */
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { programEnv } from '../../support/servers/processes.ts'

const MAIN = join(import.meta.dirname, '../../../src/main.ts')
/** Tells each module of ours that is loaded, by its folder in `src`, at the end. */
const TOLD_FOLDERS = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  const folders = new Set()
  registerHooks({ load: (url, context, next) => {
    folders.add(/[/]src[/]([a-z-]+)[/]/.exec(url)?.[1])
    return next(url, context)
  } })
  process.on('exit', () => console.error('loaded: ' + [...folders].join(' ')))
`)}`
/** More than a pipe holds. */
const BODY = JSON.stringify({ jobs: [], next_cursor: 'x'.repeat(1_000_000) })

test('a reader that has seen enough ends a verb without a word', async () => {
  const server = createServer((_, response) => void response.end(BODY))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const line = `set -o pipefail; "$0" "$1" jobs -o json | head -c 10`
  try {
    const ran = await promisify(execFile)('bash', ['-c', line, process.execPath, MAIN], {
      env: { ...process.env, PUNCTUAL_SERVER: address, PUNCTUAL_TOKEN: 'secret' },
    })
    expect(ran).toEqual({ stdout: BODY.slice(0, 10), stderr: '' })
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

test('a controller without the reader of kubeconfigs, as in the image, says what to do', async () => {
  const withoutPackage = `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module'
    registerHooks({ resolve: (name, context, next) => next(name === '@kubernetes/client-node' ? 'left-out' : name, context) })
  `)}`
  const env = {
    ...programEnv(),
    KUBECONFIG: '/nowhere',
    PUNCTUAL_REDIS_URL: 'redis://127.0.0.1:1',
    PUNCTUAL_POD_NAMESPACE: 'here',
    PUNCTUAL_SECRETS_KEY: Buffer.alloc(32).toString('base64'),
    PUNCTUAL_LOG_LEVEL: 'silent',
  }
  const args = ['--import', withoutPackage, MAIN, 'controller']
  const ended = await promisify(execFile)(process.execPath, args, { env }).catch((error: unknown) => error)
  expect(ended).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('does not read kubeconfigs') as string,
  })
})

test.each([
  ['doctor', ['api', 'cli', 'contract', 'controller', 'executor', 'folder-store', 'kubernetes']],
  ['help', ['api', 'controller', 'executor', 'kubernetes', 'outbound', 'redis', 'standalone']],
])('%s loads nothing of %j', async (word, others) => {
  // Ends once it has loaded what it needs.
  const settings = { PUNCTUAL_SECRETS_KEY: Buffer.alloc(32).toString('base64') }
  const env = { ...programEnv(), ...settings, PUNCTUAL_REDIS_URL: 'redis://127.0.0.1:1' }
  const args = ['--import', TOLD_FOLDERS, MAIN, word]
  const ended = await promisify(execFile)(process.execPath, args, { env }).catch((error: unknown) => error)
  const [, told = ''] = /^loaded: (.*)$/m.exec((ended as { stderr: string }).stderr) ?? []
  const folders = told.split(' ')
  expect(folders).toContain('settings')
  expect(folders.filter((folder) => others.includes(folder))).toEqual([])
})
